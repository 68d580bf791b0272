// What the page knows: its matrices, their digits, of what an entry is made, its worked line.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = JSON.parse($("#data").textContent);
const items = new Map(data.items.map((item) => [item.letter, item]));
const rowsOf = (item) => item.shape[0];
const columnsOf = (item) => item.shape[1];
const placeOf = (item, h, i, j) => ((h || 0) * rowsOf(item) + i) * columnsOf(item) + j;
const KINDS = ["first", "second", "third"];
const SHADES = 11;

let digits = data.digits;
let temperature = 1;
let live = null; // letter → floats, as shown; null while every digit is the proven one
const given = new Map();
const shipped = new WeakMap(); // a cell → the text it came with

for (const item of data.items) {
  item.texts = item.text.split(" ");
  if (!item.values) continue;
  item.first = Float64Array.from(item.values, readFloat);
  given.set(item.letter, item.first.slice());
}

function readFloat(value) {
  return value === "-inf" ? -Infinity : value === "inf" ? Infinity : Number(value);
}

// ---- numbers ----

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function pretty(text) {
  const [number, power] = text.replace("inf", "∞").split("e");
  const raised = power && [...String(Number(power))].map((c) => RAISED[c]).join("");
  return number.replace("-", "−") + (power ? `·10${raised}` : "");
}

// A float with the decimals asked for, and fewer where these say it all.
function shown(value) {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (Math.abs(value) >= 1e16) return value.toExponential(digits);
  const fixed = value.toFixed(digits);
  const short = fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
  const text = Math.abs(Number(short) - value) <= 1e-13 * Math.abs(value) ? short : fixed;
  return Number(text) === 0 ? text.replace("-", "") : text;
}

const valueAt = (item, place) => (live ? live.get(item.letter)[place] : readFloat(item.texts[place]));
const textAt = (item, place) => (live ? shown(valueAt(item, place)) : item.texts[place]);
function isExact(item, place) {
  if (live) return Number(shown(valueAt(item, place))) === valueAt(item, place);
  const [, decimals = ""] = item.texts[place].split(".");
  return decimals.length < Math.max(digits, 1) || !digits;
}

// ---- entry rules: what an entry is made of ------------------------------------------------------

const look = (table, env) => (table && table.by ? table.by.reduce((part, name) => part[env[name]], table.of) : table);
const indexAt = (index, env) => (typeof index === "string" ? env[index] : look(index, env));

function* along([body, name, size], env) {
  for (let k = 0; k < size; k++) yield [body, { ...env, [name]: k }];
}

function entryAt([, letter, head, row, column], env) {
  const item = items.get(letter);
  const h = head === null ? null : indexAt(head, env);
  const [i, j] = [indexAt(row, env), indexAt(column, env)];
  return { item, h, i, j, place: placeOf(item, h, i, j), key: `${letter}|${h ?? ""}|${i}|${j}` };
}

function compared(left, sign, right) {
  return sign === "≤" ? left <= right : left === right;
}

function branch([, condition, value, otherwise], env) {
  const holds = Array.isArray(condition)
    ? compared(evaluate(condition[0], env), condition[1], evaluate(condition[2], env))
    : look(condition, env) === 1;
  return holds ? value : otherwise;
}

// Every entry that an entry reads, in order.
function* reads(rule, env) {
  const [kind, ...parts] = rule;
  if (kind === "e") yield entryAt(rule, env);
  else if (kind === "s" || kind === "r")
    for (const [body, inner] of along(kind === "s" ? parts : parts.slice(1), env)) yield* reads(body, inner);
  else if (kind === "?") {
    if (Array.isArray(parts[0])) { yield* reads(parts[0][0], env); yield* reads(parts[0][2], env); }
    yield* reads(branch(rule, env), env);
  } else for (const part of parts) if (Array.isArray(part)) yield* reads(part, env);
}

const FUNCTIONS = {
  tanh: Math.tanh, cos: Math.cos, sin: Math.sin, "√": Math.sqrt, erf: errorFunction,
  "σ": (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x))),
  max0: (x) => Math.max(x, 0),
  elu1: (x) => (x >= 0 ? x + 1 : Math.exp(x)),
};

function evaluate(rule, env) {
  const [kind, ...parts] = rule;
  const value = (part) => evaluate(part, env);
  switch (kind) {
    case "e": { const entry = entryAt(rule, env); return valueAt(entry.item, entry.place); }
    case "c": return readFloat(look(parts[0], env)[0]);
    case "+": return parts.map(value).reduce((a, b) => (a === -Infinity || b === -Infinity ? -Infinity : a + b));
    case "*": return parts.map(value).reduce((a, b) => a * b);
    case "/": { const below = value(parts[1]); return below === 0 && parts[2] ? 0 : value(parts[0]) / below; }
    case "s": return [...along(parts, env)].reduce((sum, [body, inner]) => sum + evaluate(body, inner), 0);
    case "x": return Math.exp(value(parts[0]));
    case "f": return FUNCTIONS[parts[0]](value(parts[1]));
    case "^": return value(parts[0]) ** parts[1];
    case "r": {
      const row = [...along(parts.slice(1), env)].map(([body, inner]) => evaluate(body, inner));
      if (parts[0] === "argmax") return row.indexOf(Math.max(...row));
      if (parts[0] === "max") return Math.max(...row);
      return threshold({ shape: [1, row.length], data: Float64Array.from(row) }).data[0];
    }
    default: return value(branch(rule, env));
  }
}

// ---- worked lines, as MathML ------------------------------------------------------------------------

const SUM = 1, PRODUCT = 2, ATOM = 3;
const mo = (sign) => `<mo>${sign}</mo>`;
const mrow = (...parts) => `<mrow>${parts.join("")}</mrow>`;
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
  return { markup: mrow(kept.map((piece, k) => (k && !piece.negative ? mo("+") : "") + piece.markup).join("")), holds: SUM };
}

// A rule with its numbers put in; `collapsed` writes exponentials and functions as numbers too.
function spell(rule, env, collapsed) {
  const [kind, ...parts] = rule;
  const inner = (part, where = env) => spell(part, where, collapsed);
  const asNumber = () => numeral(shown(evaluate(rule, env)));
  switch (kind) {
    case "e": { const entry = entryAt(rule, env); return numeral(textAt(entry.item, entry.place)); }
    case "c": { const [value, markup] = look(parts[0], env); return { markup, holds: ATOM, negative: value < 0 || value === "-inf" }; }
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
        if (evaluate(parts[1], env) < 0) return { markup: `<msup><mi>e</mi>${body.markup}</msup>`, holds: ATOM };
        return { markup: mrow(body.markup, mo("+"), "<mn>1</mn>"), holds: SUM };
      }
      const listed = parts[0] === "max0" ? { markup: `<mn>0</mn>${mo(",")}${body.markup}` } : body;
      return { markup: mrow(`<mi>${parts[0] === "max0" ? "max" : parts[0]}</mi>`, mo("\u2061"), fenced(listed)), holds: ATOM };
    }
    case "r": {
      if (collapsed) return asNumber();
      const row = [...along(parts.slice(1), env)].map(([body, where]) => inner(body, where).markup);
      return { markup: mrow(`<mi>${parts[0]}</mi>`, mo("\u2061"), fenced({ markup: row.join(mo(",")) })), holds: ATOM };
    }
    default: return inner(branch(rule, env));
  }
}

function nameOf(item, h, i, j) {
  const [row, column, head] = [i, j, h].map((k) => String((k ?? 0) + data.base));
  const short = row.length === 1 && column.length === 1;
  return item.entry[short ? 0 : 1].replaceAll("△", row).replaceAll("▽", column).replaceAll("□", head);
}

// Whether a row is shared out in which there is nothing: no key may be attended to.
function sharesNothing(rule, env) {
  const [kind, ...parts] = rule;
  if (kind === "/" && parts[2]) return evaluate(parts[1], env) === 0;
  if (kind === "r") return [...along(parts.slice(1), env)].every(([body, inner]) => evaluate(body, inner) === -Infinity);
  if (kind === "?") return Array.isArray(parts[0]) && [parts[0][0], parts[0][2], branch(rule, env)].some((part) => sharesNothing(part, env));
  return kind !== "s" && parts.some((part) => Array.isArray(part) && sharesNothing(part, env));
}

// The worked line of an entry: the proven one where it came along, otherwise one made here.
function workedLine(item, h, i, j) {
  const place = placeOf(item, h, i, j);
  const packed = live ? undefined : item.lines && item.lines[place];
  if (packed) {
    const [which, ...numbers] = packed.split(" ");
    const gaps = data.templates[which];
    return gaps.map((gap, k) => gap + (numbers[k] ?? "")).join("");
  }
  const name = nameOf(item, h, i, j);
  const result = numeral(textAt(item, place)).markup;
  const close = `<math display="block">${mrow(name, mo(item.rule ? "≈" : "="), result)}</math>`;
  if (!item.rule) return close.replace("≈", "=");
  if (live && given.has(item.letter)) return `<math display="block">${mrow(name, mo("="), result)}</math>`;
  const env = { i, j, h };
  if (sharesNothing(item.rule, env))
    return `<math display="block">${mrow(name, mo("="), result, "<mtext>\u00a0(no key may be attended to)</mtext>")}</math>`;
  const exact = [...reads(item.rule, env)].every((entry) => isExact(entry.item, entry.place));
  const stages = [false, true].map((collapsed) => spell(item.rule, env, collapsed).markup);
  if (live && temperature !== 1 && item.letter === data.tempered)
    stages.forEach((stage, k) => { stages[k] = `<mfrac>${mrow(stage)}<mn>${temperature}</mn></mfrac>`; });
  const curved = stages[0] !== stages[1];
  const parts = [name];
  stages.forEach((stage, k) => {
    if (k && stage === stages[k - 1]) return;
    if (stage !== result) parts.push(mo(k === 0 && exact ? "=" : "≈"), stage);
  });
  parts.push(mo((exact && !curved && isExact(item, place)) || result.includes("∞") ? "=" : "≈"), result);
  return `<math display="block">${mrow(...parts)}</math>`;
}
