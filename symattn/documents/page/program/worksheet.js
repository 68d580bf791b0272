// The worksheet of what stands on the page, in TOML, which `symattn derive` reads.

const WRITTEN = { "√": "sqrt", exp: "exp", ln: "ln", tanh: "tanh", sin: "sin", cos: "cos" };

// A number of the page's data in the language of worksheets; throws for what that cannot say.
function spelledOut(value) {
  if (!Array.isArray(value)) return String(value);
  const [op, ...parts] = value;
  const inner = () => parts.map((part) => `(${spelledOut(part)})`);
  if (op === "π") return "pi";
  if ("+*/".includes(op)) return inner().join(op);
  if (op === "^" && parts[2] <= 2) return `(${spelledOut(parts[0])})^(${parts[1]}/${parts[2]})`;
  if (!WRITTEN[op]) throw new SyntaxError("a number given to it has no spelling there");
  return `${WRITTEN[op]}${inner()[0]}`;
}

const inToml = (text) => {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,20})?$/.test(text)) return text;
  if ([...text].length > 200) throw new SyntaxError("a number given to it is too long");
  return JSON.stringify(text);
};

// As typed, with a decimal point and plain spaces.
const withPoint = (text) => text.replace(/\s+/g, " ").replace(/(?<![0-9.,])([0-9]*),([0-9]+)(?![0-9.,])/g, "$1.$2");

function matrixIn(item) {
  const texts = given.get(item.letter)?.texts;
  const at = (place) => (item.name === "allowed" && item.rule ? String(valueAt(item, place) === 0) : inToml(!texts ? item.texts[place] : isChanged(item, place) ? withPoint(texts[place]) : spelledOut(item.values[place])));
  const list = (parts) => `[${parts.join(", ")}]`;
  const [n, m] = data.flipped ? [columnsOf(item), rowsOf(item)] : item.shape; // there tokens are rows
  const of = (h) => list(numbersTo(n).map((i) => list(numbersTo(m).map((j) => at(data.flipped ? placeOf(item, h, j, i) : placeOf(item, h, i, j))))));
  return item.heads ? list(numbersTo(item.heads).map(of)) : of(0);
}

// Throws a SyntaxError for what a worksheet cannot say.
function worksheet() {
  const { top, attention, notation, scale, truths } = data.worksheet;
  const axes = { ...attention };
  const altered = data.items.filter((item) => item.rule && given.has(item.letter) && edited(item).length);
  const inputs = data.items.filter((item) => !item.rule);
  let listed = inputs;
  for (const item of altered) {
    if (item.name !== "mask" || inputs.some(({ name }) => name === "mask")) throw new SyntaxError(`the changed ${item.name} cannot be given there`);
    axes.mask = truths; // of zeros and −∞, which truth values say for every way of normalising
    listed = [...inputs.filter(({ name }) => name !== "allowed"), { ...item, name: "allowed" }];
  }
  if (temperature !== "1") {
    const tempered = items.get(data.tempered);
    if (!scale) throw new SyntaxError(`a temperature that divides ${tempered.name.replaceAll("_", " ")} cannot be said there; set it to 1`);
    axes.scale = inToml(`(${scale})/(${withPoint(temperature)})`);
  }
  const lines = Object.entries(top).map(([key, value]) => `${key} = ${value}`);
  const remarks = live ? changes().map((words) => `# ${words.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, " ")}`) : [];
  const table = (name, entries) => (entries.length ? ["", `[${name}]`, ...entries] : []);
  return [
    ...(remarks.length ? ["# Changed by a reader of the page:", ...remarks] : []),
    ...lines,
    ...table("attention", Object.entries(axes).map(([key, value]) => `${key} = ${value}`)),
    ...table("given", listed.map((item) => `${item.name} = ${matrixIn(item)}`)),
    ...table("notation", [...notation, ...(digits === 4 ? [] : [`digits = ${digits}`])]),
    "",
  ].join("\n");
}

$("#download")?.addEventListener("click", () => {
  try {
    const url = URL.createObjectURL(new Blob([worksheet()], { type: "application/toml" }));
    const name = document.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "worksheet";
    make("a", "", { href: url, download: `${name}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say("Worksheet downloaded.");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    say(`No worksheet says this: ${error.message}.`);
  }
});
