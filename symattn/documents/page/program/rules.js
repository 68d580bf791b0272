// What the page knows: its matrices, their digits, of what an entry is made, its worked line.
const data = JSON.parse($("#data").textContent);
const items = new Map(data.items.map((item) => [item.letter, item]));
const rowsOf = (item) => item.shape[0];
const columnsOf = (item) => item.shape[1];
const placeOf = (item, h, i, j) => ((h || 0) * rowsOf(item) + i) * columnsOf(item) + j;
const keyAt = (letter, h, i, j) => `${letter}|${h ?? ""}|${i}|${j}`;
const labelsOf = (item) => item.labels.map((k) => (k === null ? null : data.labels[k])); // of rows and of columns
const SHADES = 11;

let digits = data.digits;
let temperature = "1"; // as typed
let divisor = certified.certain(1); // the same, certified
let live = null; // letter → floats, as shown; null while every digit is one that the page came with
let proven = null; // letter → { numbers, shown }, certified; null until all are, in which case `live` is provisional
const given = new Map(); // letter → { numbers, floats, texts } that a reader may change
const shipped = new WeakMap(); // a cell → the text it came with

for (const item of data.items) {
  item.texts = item.text.split(" ");
  if (!item.values) continue;
  const numbers = item.values.map(certified.made);
  const floats = Float64Array.from(numbers, certified.nearest);
  item.first = { numbers, floats, texts: item.values.map((value, place) => (Array.isArray(value) ? item.texts[place] : String(value))) };
  given.set(item.letter, { numbers: [...numbers], floats: floats.slice(), texts: [...item.first.texts] });
}

// An entry of a matrix: its head, row and column, and what is shown of it.
class Entry {
  constructor(item, h, i, j) { Object.assign(this, { item, h, i, j, place: placeOf(item, h, i, j) }); }
  get key() { return keyAt(this.item.letter, this.h, this.i, this.j); }
  get value() { return valueAt(this.item, this.place); }
  get number() { return numberAt(this.item, this.place); }
  get text() { return pretty(textAt(this.item, this.place)); }
  get isExact() { return isExact(this.item, this.place); }
  get typed() { return given.get(this.item.letter).texts[this.place]; }
}
function entryIn(item, place) {
  const [row, j] = [Math.floor(place / columnsOf(item)), place % columnsOf(item)];
  return new Entry(item, item.heads ? Math.floor(row / rowsOf(item)) : null, row % rowsOf(item), j);
}
const entriesOf = (item) => item.texts.map((_, place) => entryIn(item, place));

const equal = (a, b) => a === b || certified.order(a, b) === 0;
const isChanged = (item, place) => !equal(given.get(item.letter).numbers[place], item.first.numbers[place]);
const edited = (item) => entriesOf(item).filter(({ place }) => isChanged(item, place));
const everyEdited = () => [...given.keys()].flatMap((letter) => edited(items.get(letter)));

// ---- numbers ----

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function pretty(text) {
  if (text === "undefined") return text;
  const [, number, power] = /^(-?[\d.]+)e([-+]?\d+)$/.exec(text) ?? [null, text.replace("inf", "∞")]; // exp(1) stays
  const raised = power && [...String(Number(power))].map((c) => RAISED[c]).join("");
  return number.replace("-", "−") + (power ? `·10${raised}` : "");
}

// A float with the decimals asked for: provisional.
function rounded(value) {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (Math.abs(value) >= 1e16) return value.toExponential(digits);
  const fixed = value.toFixed(digits);
  return Number(fixed) === 0 ? fixed.replace("-", "") : fixed;
}

// Names of entries differ in their letters.
for (const item of data.items) item.entry = data.names[item.entry[0]].replace("◇", item.entry[1]);

// The temperature is an entry like any other of the rule that it is put into: of the step that it divides.
const warmth = { letter: "temperature", shape: [1, 1], entry: data.temperature[0] };
items.set(warmth.letter, warmth);
const isWarm = (item) => temperature !== "1" && item.letter === data.tempered;
let supposed = null; // what is done otherwise while a reader asks what if: rules by letter
function ruleOf(item) {
  const rule = supposed?.rules[item.letter] ?? item.rule;
  if (!isWarm(item)) return rule;
  const [kind, above, below, isEmpty] = rule;
  const heat = ["e", warmth.letter, null, 0, 0];
  return kind === "/" && !isEmpty ? ["/", above, ["*", heat, below], 0] : ["/", rule, heat, 0];
}

const shownAs = (number) => certified.shown(number, digits, data.rounding);
const readFloat = (text) => (text === "-inf" ? -Infinity : text === "inf" ? Infinity : parseFloat(text));
const valueAt = (item, place) => (live ? live.get(item.letter)[place] : readFloat(item.texts[place]));

function textAt(item, place) {
  if (item === warmth) return shownAs(divisor).text;
  if (!live) return item.texts[place];
  return proven?.get(item.letter)?.shown[place].text ?? (given.has(item.letter) ? shownAs(numberAt(item, place)).text : rounded(valueAt(item, place)));
}

// Whether the text of an entry is all of the number, by proof.
function isExact(item, place) {
  if (item === warmth) return shownAs(divisor).exact;
  if (live) return Boolean(proven?.get(item.letter)?.shown[place].exact);
  if (item.first) return shownAs(item.first.numbers[place]).exact;
  const text = item.texts[place];
  const [, decimals = ""] = text.split(".");
  return text === "-inf" || (decimals.length < digits && /^[-.e\d]+$/.test(text));
}

// The number that is printed, exactly.
const readText = (text) => certified.read(text) ?? certified.UNKNOWN;
// The entry itself: as it was certified after a change; before one, by its rule from what is given.
const known = new Map(data.items.map((item) => [item.letter, []]));
function numberAt(item, place) {
  if (item === warmth) return divisor;
  if (given.has(item.letter)) return given.get(item.letter).numbers[place];
  if (live) return proven?.get(item.letter)?.numbers[place] ?? certified.ofFloat(valueAt(item, place));
  return (known.get(item.letter)[place] ??= item.rule ? evaluate(item.rule, entryIn(item, place)) : readText(item.texts[place]));
}

// ---- entry rules: what an entry is made of ------------------------------------------------------

const look = (table, env) => (table && table.by ? table.by.reduce((part, name) => part[env[name]], table.of) : table);
const indexAt = (index, env) => (typeof index === "string" ? env[index] : look(index, env));

// Whether a rule, or an index in it, depends on what an index is.
const dependsOn = (rule, name) => Array.isArray(rule) ? rule.some((part, k) => !(rule[0] === "e" && k === 1) && dependsOn(part, name)) : rule === name || Boolean(rule?.by?.includes(name));

function* along([body, name, size], env) {
  for (let k = 0; k < size; k++) yield [body, { ...env, [name]: k }];
}

const placeIn = (item, [, , head, row, column], env) => placeOf(item, head === null ? null : indexAt(head, env), indexAt(row, env), indexAt(column, env));

const entryAt = ([, letter, head, row, column], env) =>
  new Entry(items.get(letter), head === null ? null : indexAt(head, env), indexAt(row, env), indexAt(column, env));

// Numbers of a kind, and what is computed of them. Of two that are compared, `order` is null where it is not known.
const CERTIFIED = {
  ...certified,
  constant: (written) => certified.made(written[0]),
  power: (x, k) => Array(k).fill(x).reduce(certified.product, certified.certain(1)),
  first: (row) => certified.certain(certified.firstLargest(row).indexOf(1)),
  kept: (rule, env, make) => make(),
};

// Floats as such a kind.
const constants = new Map();
const FLOATS = {
  constant: (written) => constants.get(written) ?? constants.set(written, certified.nearest(certified.made(written[0]))).get(written),
  certain: Number, sum: (terms) => terms.reduce((a, b) => a + b, 0), product: (a, b) => a * b, quotient: (a, b) => a / b, power: (x, k) => x ** k,
  order: (a, b) => (a === b ? 0 : a - b), exp: Math.exp,
  OF_ONE: {
    "√": Math.sqrt, exp: Math.exp, ln: Math.log, tanh: Math.tanh, sin: Math.sin, cos: Math.cos, abs: Math.abs,
    erf: (x) => certified.nearest(certified.OF_ONE.erf(certified.ofFloat(x))),
    "σ": (x) => 1 / (1 + Math.exp(-x)),
    elu1: (x) => (x < 0 ? Math.exp(x) : x + 1),
    max0: (x) => Math.max(x, 0), min1: (x) => Math.min(x, 1), above0: (x) => +(x > 0), below1: (x) => +(x < 1),
  },
  largest: (row) => Math.max(...row), first: (row) => row.indexOf(Math.max(...row, -Number.MAX_VALUE)), threshold: thresholdOf, thresholdOfSquares: squaresThresholdOf,
  minus: (a, b) => a - b,
  together(row) {
    const most = Math.max(...row, -Number.MAX_VALUE);
    return { most, sum: row.reduce((sum, x) => sum + Math.exp(x - most), 0) };
  },
  kept: CERTIFIED.kept,
};

// The t with Σ max(x − t, 0) = 1.
function thresholdOf(row) {
  let sum = -1;
  const ranked = row.filter(Number.isFinite).sort((a, b) => b - a);
  return ranked.length ? Math.max(...ranked.map((x, k) => (sum += x) / (k + 1))) : 0;
}

// The t with Σ max(x − t, 0)² = 1: of the longest run of the largest numbers that all lie above theirs.
function squaresThresholdOf(row) {
  let [sum, found] = [0, 0];
  const ranked = row.filter(Number.isFinite).sort((a, b) => b - a);
  for (const [k, x] of ranked.entries()) {
    sum += x;
    const mean = sum / (k + 1);
    const left = (1 - ranked.slice(0, k + 1).reduce((all, one) => all + (one - mean) ** 2, 0)) / (k + 1);
    if (left < 0 || mean - Math.sqrt(left) > x) break;
    found = mean - Math.sqrt(left);
  }
  return found;
}

function compared([left, sign, right], env, at, numbers) {
  const found = numbers.order(...[left, right].map((part) => evaluate(part, env, at, null, numbers)));
  return found === null ? null : sign === "≤" ? found <= 0 : found === 0;
}

const isCompared = (rule) => rule[0] === "?" && Array.isArray(rule[1]);

function branch(rule, env, at = numberAt, numbers = CERTIFIED) {
  return (isCompared(rule) ? compared(rule[1], env, at, numbers) : look(rule[1], env) === 1) ? rule[2] : rule[3];
}

// The parts of a rule that count, each with its indices: of a sum one for each term, of cases the one that holds.
function* within(rule, env) {
  if (rule[0] === "s" || rule[0] === "r") yield* along(rule.slice(-3), env);
  else if (rule[0] === "?") yield [branch(rule, env), env];
  else if (rule[0] !== "e" && rule[0] !== "c") for (const part of rule) if (Array.isArray(part)) yield [part, env];
}

// The parts of a rule that are entries, whatever the indices are.
function* entriesIn(rule) {
  if (rule[0] === "e") yield rule;
  else if (rule[0] !== "c") for (const part of rule) if (Array.isArray(part)) yield* entriesIn(part);
}

// Every entry that an entry reads, in order.
function* reads(rule, env) {
  if (rule[0] === "e") yield entryAt(rule, env);
  if (isCompared(rule)) for (const side of [rule[1][0], rule[1][2]]) yield* reads(side, env);
  for (const inside of within(rule, env)) yield* reads(...inside);
}

// A rule in numbers of a kind, with those that `at` reads for the entries and, where there is a `ready`, those that it
// has for exponentials and functions. An index that runs does so in `env` itself.
function evaluate(rule, env, at = numberAt, ready = null, numbers = CERTIFIED) {
  const value = (part) => evaluate(part, env, at, ready, numbers);
  const all = () => rule.slice(1).map(value);
  const over = (body, name, size, of = value) => {
    const row = [];
    for (env[name] = 0; env[name] < size; env[name]++) row.push(of(body));
    return row;
  };
  const [kind, first, second] = rule;
  if (ready && "xfr".includes(kind)) return ready(rule, env);
  switch (kind) {
    case "e": { const item = items.get(first); return at(item, placeIn(item, rule, env)); }
    case "c": return numbers.constant(look(first, env));
    case "+": return numbers.sum(all());
    case "*": return all().reduce(numbers.product);
    case "/": {
      const isShare = !ready && first[0] === "x" && second[0] === "s" && second[1][0] === "x";
      const whole = isShare && numbers.kept(second, env, () => numbers.together(over(second[1][1], second[2], second[3])));
      const below = isShare ? whole.sum : value(second);
      if (rule[3] && !ready && numbers.order(below, 0) === 0) return numbers.certain(0);
      return numbers.quotient(isShare ? numbers.exp(numbers.minus(value(first[1]), whole.most)) : value(first), below);
    }
    case "s": return numbers.kept(rule, env, () => numbers.sum(over(first, second, rule[3])));
    case "x": return numbers.exp(value(first));
    case "f": return numbers.OF_ONE[first](value(second));
    case "^": return numbers.power(value(first), second);
    case "r": {
      const row = over(second, rule[3], rule[4]);
      return first === "argmax" ? numbers.first(row) : first === "max" ? numbers.largest(row) : first === "τ" ? numbers.threshold(row) : numbers.thresholdOfSquares(row);
    }
    default: {
      if (isCompared(rule) && compared(first, env, at, numbers) === null) return numbers.UNKNOWN;
      return value(branch(rule, env, at, numbers));
    }
  }
}

// How numbers are printed with `more` decimals than the page has: entries, exponentials and functions, each rounded
// from what it is, and what a reader then reads. A rounded number of more than ten digits before the point is a power
// of ten there.
const WIDE = 10;
const isWide = (text) => text.split(".")[0].replace("-", "").length > WIDE;
function printer(more = 0) {
  const rounded = (number) => {
    const found = certified.shown(number, digits + more, data.rounding);
    return isWide(found.text) && !found.exact ? certified.shown(number, digits + more, data.rounding, WIDE).text : found.text;
  };
  const isPlain = (item, place) => !more && (!isWide(textAt(item, place)) || isExact(item, place));
  const text = (item, place) => (isPlain(item, place) ? textAt(item, place) : rounded(numberAt(item, place)));
  const part = (rule, env) => rounded(evaluate(rule, env));
  return {
    more, text, part,
    at: (item, place) => readText(text(item, place)),
    ready: (rule, env) => readText(part(rule, env)),
    same: (number, rule, env) => rounded(number) === part(rule, env),
  };
}
const asShown = printer();

// The first printer, of those with more and more decimals, with which something holds: of those with at least so many
// where there is one; null where none does.
const MOST_MORE = 12;
function printerFor(holds, least = 0) {
  for (let more = least; more <= MOST_MORE; more++) { const print = printer(more); if (holds(print)) return print; }
  return least ? printerFor(holds) : null;
}

// Every exponential and function that a rule prints as one number.
function* functionsIn(rule, env) {
  if ("xfr".includes(rule[0])) yield [rule, env];
  else for (const inside of within(rule, env)) yield* functionsIn(...inside);
}

// ---- worked lines, as MathML ------------------------------------------------------------------------

const SUM = 1, PRODUCT = 2, ATOM = 3;
const mo = (sign) => `<mo>${sign}</mo>`;
const mrow = (...parts) => `<mrow>${parts.join("")}</mrow>`;
const display = (markup) => `<math display="block">${markup}</math>`;
const inMath = (...parts) => display(mrow(...parts));
const fenced = (piece) => mrow('<mo form="prefix" stretchy="false">(</mo>', piece.markup, '<mo form="postfix" stretchy="false">)</mo>');
const atLeast = (piece, holds) => (piece.holds < holds || piece.negative ? fenced(piece) : piece.markup);

function numeral(text) {
  const negative = text.startsWith("-");
  const [digitsOnly, power] = text.replace("-", "").split("e");
  const bare = digitsOnly === "inf" ? "<mi>∞</mi>" : /^\d/.test(digitsOnly) ? `<mn>${digitsOnly}</mn>` : `<mtext>${digitsOnly}</mtext>`;
  const whole = power ? mrow(bare, mo("·"), `<msup><mn>10</mn>${numeral(String(Number(power))).markup}</msup>`) : bare;
  return { markup: negative ? mrow(mo("−"), whole) : whole, holds: power ? PRODUCT : ATOM, negative };
}

function summed(pieces) {
  const cut = data.limit && pieces.length > data.limit;
  const kept = cut ? [...pieces.slice(0, data.limit - 2), { markup: mo("⋯"), holds: ATOM }, pieces[pieces.length - 1]] : pieces;
  if (kept.length === 1) return kept[0];
  const term = (piece, k) => (k && piece.negative ? piece.markup.replace(mo("−"), '<mo form="infix">−</mo>') : (k ? mo("+") : "") + piece.markup);
  return { markup: mrow(kept.map(term).join("")), holds: SUM, negative: kept[0].negative };
}

// What a number of a worked line looks like, by the entry that it is: as it stands, until something colours it.
let dress = (piece) => piece;
const bare = (markup) => markup.replace(/<[^>]*>/g, "");

// A rule with its numbers put in; `collapsed` writes exponentials and functions as numbers too.
function spell(rule, env, collapsed = false, print = asShown) {
  const [kind, ...parts] = rule;
  const inner = (part, where = env) => spell(part, where, collapsed, print);
  const asNumber = () => numeral(print.part(rule, env));
  switch (kind) {
    case "e": { const entry = entryAt(rule, env); return dress(numeral(print.text(entry.item, entry.place)), entry); }
    case "…": return { markup: mo("⋯"), holds: ATOM };
    case "c": { const [value, markup] = look(parts[0], env); return { markup, holds: ATOM, negative: certified.order(certified.made(value), 0) === -1 }; }
    case "+": return summed(parts.map((part) => inner(part)));
    case "s": return summed([...along(parts, env)].map(([body, where]) => inner(body, where)));
    case "*": {
      const minus = parts[0][0] === "c" && look(parts[0][1], env)[0] === -1;
      const factors = (minus ? parts.slice(1) : parts).map((part) => inner(part));
      const product = factors.length === 1 ? atLeast(factors[0], minus ? PRODUCT : SUM) : factors.map((f) => atLeast(f, PRODUCT)).join(mo("·"));
      return { markup: mrow(minus ? mo("−") : "", product), holds: PRODUCT, negative: minus };
    }
    case "/": return { markup: `<mfrac>${inner(parts[0]).markup}${inner(parts[1]).markup}</mfrac>`, holds: PRODUCT };
    case "x": return collapsed ? asNumber() : { markup: `<msup><mi>e</mi>${inner(parts[0]).markup}</msup>`, holds: ATOM };
    case "^": return { markup: `<msup>${atLeast(inner(parts[0]), ATOM)}<mn>${parts[1]}</mn></msup>`, holds: ATOM };
    case "f": {
      if (collapsed) return asNumber();
      const body = inner(parts[1]);
      if (parts[0] === "√") return { markup: `<msqrt>${body.markup}</msqrt>`, holds: ATOM };
      if (parts[0] === "elu1") {
        if (certified.order(evaluate(parts[1], env), 0) === -1) return { markup: `<msup><mi>e</mi>${body.markup}</msup>`, holds: ATOM };
        return { markup: mrow(body.markup, mo("+"), "<mn>1</mn>"), holds: SUM };
      }
      const listed = parts[0] === "max0" ? { markup: `<mn>0</mn>${mo(",")}${body.markup}` } : body;
      return { markup: mrow(`<mi>${parts[0] === "max0" ? "max" : parts[0]}</mi>`, mo("\u2061"), fenced(listed)), holds: ATOM };
    }
    case "r": {
      if (collapsed) return asNumber();
      const row = [...along(parts.slice(1), env)].map(([body, where]) => inner(body, where).markup);
      return { markup: mrow(parts[0] === "τ2" ? "<msub><mi>τ</mi><mn>2</mn></msub>" : `<mi>${parts[0]}</mi>`, mo("\u2061"), fenced({ markup: row.join(mo(",")) })), holds: ATOM };
    }
    default: return inner(branch(rule, env));
  }
}

function nameOf({ item, h, i, j }) {
  const [row, column, head] = [i, j, h].map((k) => String((k ?? 0) + data.base));
  const short = row.length === 1 && column.length === 1;
  const name = short ? item.entry.replaceAll(mo(","), "") : item.entry;
  return name.replaceAll("△", row).replaceAll("▽", column).replaceAll("□", head);
}

// Whether a row is shared out in which there is nothing: no key may be attended to.
function sharesNothing(rule, env) {
  const [kind, ...parts] = rule;
  if (kind === "/" && parts[2]) return certified.order(evaluate(parts[1], env), 0) === 0;
  if (kind === "r") return [...along(parts.slice(1), env)].every(([body, inner]) => evaluate(body, inner) === certified.LOWEST);
  if (kind === "?") return Array.isArray(parts[0]) && [parts[0][0], parts[0][2], branch(rule, env)].some((part) => sharesNothing(part, env));
  return kind !== "s" && parts.some((part) => Array.isArray(part) && sharesNothing(part, env));
}

// Whether an entry has more of a line than its number.
const isComputed = (item) => Boolean(item.rule) && !(live && (given.has(item.letter) || !proven));

// How the two stages of a worked line are printed, first with its entries, then with exponentials and functions as
// numbers: with at least so many more decimals than usual, and so many that the next one and the result follow. A stage
// is left out where none do.
const USUAL = [0, 0];
function printersOf(env, least = USUAL) {
  const { item, place } = env;
  const [rule, text] = [ruleOf(item), textAt(item, place)];
  if (!isComputed(item) || sharesNothing(rule, env)) return [null, null];
  const gives = (print, ready) => shownAs(evaluate(rule, env, print.at, ready)).text === text;
  const functions = [...functionsIn(rule, env)];
  const short = functions.length ? printerFor((print) => gives(print, print.ready), least[1]) : null;
  const long = printerFor((print) => gives(print, null) && (!short || functions.every(([part, where]) => short.same(evaluate(part, where, print.at), part, where))), least[0]);
  if (!short || !long || short.more === long.more) return [long, short];
  // Two stages that both show a rounded number have as many decimals.
  const inexact = (entries) => entries.filter((entry) => !entry.isExact).length;
  const isShared = inexact([...reads(rule, env)]) > inexact(functions.flatMap(([part, where]) => [...reads(part, where)]));
  const most = Math.max(short.more, long.more);
  return isShared && most > Math.max(...least) ? printersOf(env, [most, most]) : [long, short];
}

// The links of the worked line of an entry, each with its sign before it, the first behind the name.
function linksOf(env, [long, short] = printersOf(env)) {
  const { item, place, isExact: whole } = env;
  const [name, result, rule] = [nameOf(env), numeral(textAt(item, place)).markup, ruleOf(item)];
  if (!isComputed(item)) return [[name, mo(whole ? "=" : "≈"), result]];
  if (sharesNothing(rule, env)) return [[name, mo("="), result, "<mtext>\u00a0(no key may be attended to)</mtext>"]];
  const exact = [...reads(rule, env)].every((entry) => entry.isExact);
  const links = [];
  let last = "";
  for (const [print, collapsed] of [[long, false], [short, true]]) {
    if (!print) continue;
    const written = spell(rule, env, collapsed, print).markup;
    const stage = data.limit && written.split("<mn>").length > 8 * data.limit + 1 ? mo("⋯") : written;
    if (stage === last || bare(stage) === bare(result)) continue;
    last = stage;
    links.push([mo(exact && !collapsed ? "=" : "≈"), stage]);
  }
  const isSame = whole && (links.length === 0 || (exact && links.length === 1 && links[0][0] === mo("=")) || result.includes("∞"));
  links.push([mo(isSame ? "=" : "≈"), result]);
  links[0].unshift(name);
  return links;
}

// The worked line of an entry: the proven one where it came along, otherwise one made here.
function workedLine(entry) {
  const packed = live ? undefined : entry.item.lines?.[entry.place];
  if (!packed) return inMath(...linksOf(entry).flat());
  const [which, ...numbers] = packed.split(" ");
  const gaps = data.templates[which].split(" ");
  return display(gaps.map((gap, k) => data.pieces[gap] + (numbers[k] ?? "")).join(""));
}

// ---- products and shares ----

const isFactor = (part, index) => part[0] === "e" && part.slice(3).includes(index);

// The one product of two matrices in a rule: of its factors the left has the row of the entry, the right its column.
function productOf(rule) {
  const [kind, ...parts] = rule;
  if (kind === "s") {
    const [[times, ...factors], index, size] = parts;
    if (times !== "*" || factors.length !== 2 || !factors.every((part) => isFactor(part, index))) return null;
    const [left, right] = ["i", "j"].map((name) => factors.find((part) => part.slice(3).includes(name)));
    return left && right && left !== right ? { rule, left, right, index, size } : null;
  }
  const found = ["+", "*"].includes(kind) ? parts.map(productOf).filter(Boolean) : kind === "/" ? [productOf(parts[0])] : [];
  return found.length === 1 ? found[0] : null;
}

// A row (or column) that is shared out: what each entry puts in, over what all of them make together.
function sharesOf(rule) {
  const [kind, part, whole] = rule;
  if (kind !== "/" || !["x", "e"].includes(part[0]) || !["s", "+"].includes(whole[0])) return null;
  const [byRow, byColumn] = ["i", "j"].map((name) => dependsOn(whole, name));
  return byRow === byColumn ? null : { part, whole, byRow };
}

const factorsOf = (product) => (product ? [product.left[1], product.right[1]] : []);
