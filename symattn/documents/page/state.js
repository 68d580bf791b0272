// What a reader changed, and the numbers that follow from it: floats at once, and then digits that are proven.

let certifying = null; // the timer of the work that proves the digits anew

const [floating, exactly] = [calculation(Float64Array, () => ({})), calculation(Numbers, certifiedArrays)];

// The program's results by letter, as shown: of `kind`, the floats or the certified numbers that were given.
function computed({ attention, transpose }, kind, divisor) {
  const inputs = {};
  for (const [letter, values] of given) {
    const item = items.get(letter);
    const whole = { shape: item.heads ? [item.heads, ...item.shape] : [...item.shape], data: values[kind] };
    inputs[item.variable] = data.flipped ? transpose(whole) : whole;
  }
  if (data.tempered) inputs.temperature = divisor;
  const out = attention(inputs);
  const found = new Map([...given].map(([letter, values]) => [letter, values[kind]]));
  for (const { letter, variable } of data.items) {
    const value = out[variable];
    if (value) found.set(letter, (data.flipped ? transpose(value) : value).data);
  }
  return found;
}

// What was changed, in words: entries, the temperature, the number of decimals.
function changes() {
  const out = [];
  for (const [letter, { texts }] of given) {
    const item = items.get(letter);
    texts.forEach((text, place) => {
      if (!isChanged(item, place)) return;
      const { h, i, j } = placed(item, place);
      out.push(`${entryWords(item, h, i, j)}: ${pretty(item.first.texts[place])} → ${pretty(text)}`);
    });
  }
  if (temperature !== "1") out.push(`temperature ${temperature}`);
  if (digits !== data.digits) out.push(`${digits} decimals`);
  return out;
}

function placed(item, place) {
  const [row, j] = [Math.floor(place / columnsOf(item)), place % columnsOf(item)];
  return { h: item.heads ? Math.floor(row / rowsOf(item)) : null, i: row % rowsOf(item), j };
}

// A page with more entries than this is not certified: that would take longer than a reader waits.
const MOST_CERTIFIED = 10000;
const entries = data.items.reduce((sum, item) => sum + item.texts.length, 0);

// What is said of the digits: while they are computed, when all are proven, when some or all are not.
const ANSWERS = {
  provisional: "These digits are provisional until they are proven.",
  proven: "Every digit is proven anew.",
  undefined: "Where something is divided by 0 there is no number; every other digit is proven anew, but for those with a question mark.",
  open: "Every digit is proven anew, but for those with a question mark.",
  floating: "Floating point computed these digits; they are not proven.",
};

function state() {
  if (!proven) return certifying === null ? "floating" : "provisional";
  const all = [...proven.values()].flatMap(({ shown }) => shown);
  if (all.some((one) => one.text === "undefined")) return "undefined";
  return all.every((one) => one.proven) ? "proven" : "open";
}

// Floats at once, and then the digits that are proven.
function recompute() {
  forget();
  live = changes().length ? computed(floating, "floats", certified.nearest(certified.read(temperature))) : null;
  if (live && entries <= MOST_CERTIFIED) later(certify());
  settle();
}

function forget() {
  clearTimeout(certifying);
  [certifying, live, proven] = [null, null, null];
}

const SLICE = 30; // milliseconds

// Goes on with the work a slice at a time, so that the page stays usable. What goes beyond the engine's memory or
// the length of its numbers ends it: then the digits stay those of floating point.
function later(work) {
  certifying = setTimeout(() => {
    const until = performance.now() + SLICE;
    try {
      while (!work.next().done) if (performance.now() > until) { later(work); return; }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    certifying = null;
    settle();
  });
}

function* certify() {
  const found = new Map();
  for (const [letter, values] of computed(exactly, "numbers", certified.read(temperature))) {
    const entry = { numbers: Array.from(values, certified.certain), shown: [] };
    found.set(letter, entry);
    for (const number of entry.numbers) { entry.shown.push(shownAs(number)); yield; }
  }
  proven = found;
}

function reset() {
  forget();
  temperature = "1";
  digits = data.digits;
  for (const [letter, values] of given) {
    const { numbers, floats, texts } = items.get(letter).first;
    for (const [kind, first] of Object.entries({ numbers, floats, texts })) first.forEach((value, place) => { values[kind][place] = value; });
  }
  settle();
}

// A number as people write it, 0.5, -2, 1/3, -inf, as it is meant and as a float.
function readNumber(text) {
  const number = certified.read(text);
  const float = number && certified.nearest(number);
  return number && (Number.isFinite(float) || number === certified.LOWEST) ? { number, float } : null;
}

// Why a text cannot be this entry; "" where it can, and then it is.
function put(item, place, text) {
  const read = readNumber(text);
  if (!read) return `“${text}” is not a number: write 0.5, -2 or 1/3.`;
  if (read.number === certified.LOWEST && !item.logits)
    return `−∞ has no meaning in ${item.name}; only scores and masks hold it.`;
  const values = given.get(item.letter);
  [values.numbers[place], values.floats[place], values.texts[place]] = [read.number, read.float, text.trim()];
  recompute();
  return "";
}
