// The page: cells that say where they come from, and numbers that can be changed.
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
  if (item.values) given.set(item.letter, Float64Array.from(item.values, readFloat));
}

function readFloat(value) {
  return value === "-inf" ? -Infinity : value === "inf" ? Infinity : Number(value);
}

// ---- numbers ------------------------------------------------------------------------------

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
  tanh: Math.tanh, cos: Math.cos, sin: Math.sin, "√": Math.sqrt,
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
      return threshold({ shape: [1, row.length], data: Float64Array.from(row) }).data[0];
    }
    default: return value(branch(rule, env));
  }
}

// ---- worked lines, as MathML ------------------------------------------------------------------------

const SUM = 1, PRODUCT = 2, ATOM = 3;
const mo = (sign) => `<mo>${sign}</mo>`;
const mrow = (...parts) => `<mrow>${parts.join("")}</mrow>`;
const fenced = (piece) => mrow('<mo fence="true" form="prefix" stretchy="false">(</mo>', piece.markup, '<mo fence="true" form="postfix" stretchy="false">)</mo>');
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

// ---- cells -----------------------------------------------------------------------------------------------

const cells = new Map(); // key → every cell that shows this entry

function register(table) {
  const { m, h = "" } = table.dataset;
  for (const row of $$("tr[data-r]", table))
    for (const cell of $$("td[data-c]", row)) {
      const key = `${m}|${h}|${row.dataset.r}|${cell.dataset.c}`;
      cell.key = key;
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(cell);
      if (!shipped.has(cell)) shipped.set(cell, cell.textContent);
    }
}

function parsed(key) {
  const [letter, h, i, j] = key.split("|");
  const item = items.get(letter);
  const head = h === "" ? null : Number(h);
  return { item, h: head, i: Number(i), j: Number(j), place: placeOf(item, head, Number(i), Number(j)) };
}

const MARKS = ["chosen", "from", ...KINDS];
let marked = [];
function mark(key, kind) {
  for (const cell of cells.get(key) || []) { cell.classList.add(kind); marked.push(cell); }
}

let pinned = null;
let current = null;

function show(key) {
  for (const cell of marked) cell.classList.remove(...MARKS);
  marked = [];
  current = key;
  const panel = $("#origin");
  panel.hidden = !key;
  document.body.classList.toggle("choosing", Boolean(key));
  if (!key) return;
  const { item, h, i, j } = parsed(key);
  const direct = item.rule ? [...reads(item.rule, { i, j, h })] : [];
  const letters = [...new Set(direct.map((entry) => entry.item.letter))];
  const kinds = new Map(direct.map((entry) => [entry.key, KINDS[Math.min(letters.indexOf(entry.item.letter), 2)]]));
  const seen = new Set(kinds.keys());
  const back = [...direct];
  while (back.length && seen.size < 5000) {
    const entry = back.pop();
    if (!entry.item.rule) continue;
    for (const before of reads(entry.item.rule, entry)) {
      if (seen.has(before.key)) continue;
      seen.add(before.key);
      back.push(before);
      mark(before.key, "from");
    }
  }
  for (const [entryKey, kind] of kinds) mark(entryKey, kind);
  mark(key, "chosen");
  tell(key, kinds);
}

const MOST_CHIPS = 16;

function tell(key, kinds) {
  const { item, h, i, j } = parsed(key);
  const line = workedLine(item, h, i, j);
  const panel = $("#origin .origin");
  const order = (entryKey) => { const entry = parsed(entryKey); return 1e9 * data.items.indexOf(entry.item) + entry.place; };
  const chips = [...kinds].sort(([one], [other]) => order(one) - order(other)).slice(0, MOST_CHIPS).map(([entryKey, kind]) => {
    const entry = parsed(entryKey);
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = `chip ${kind}`;
    chip.dataset.key = entryKey;
    chip.innerHTML = `<math aria-hidden="true">${mrow(nameOf(entry.item, entry.h, entry.i, entry.j), mo("="), numeral(textAt(entry.item, entry.place)).markup)}</math>`;
    chip.prepend(make("span", `${placeWords(entry.item, entry.h, entry.i, entry.j)} ${pretty(textAt(entry.item, entry.place))}`, { class: "spoken" }));
    return chip;
  });
  const where = document.createElement("p");
  where.className = "where";
  where.textContent = [placeWords(item, h, i, j), item.rule ? "" : "This number is given.", live ? "Live, not proven." : ""].filter(Boolean).join(" ");
  const math = document.createElement("div");
  math.className = "line";
  math.innerHTML = line;
  const made = document.createElement("div");
  made.className = "chips";
  made.append(...chips);
  if (kinds.size > MOST_CHIPS) made.append(` and ${kinds.size - MOST_CHIPS} more`);
  panel.replaceChildren(where, math, made);
  const home = $(`.worked[data-m="${CSS.escape(item.letter)}"]`);
  if (home && item.rule) home.innerHTML = line;
  reachable();
}

// What is wider than its place can be scrolled with the keyboard too.
function reachable() {
  for (const box of $$(".line, .worked")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

function placeWords(item, h, i, j) {
  const [rows, columns] = item.labels.map((k) => (k === null ? null : data.labels[k]));
  const row = rows ? rows[i] : `row ${i + data.base}`;
  const column = columns ? columns[j] : `column ${j + data.base}`;
  const head = h === null ? "" : `, head ${h + data.base}`;
  return `${item.name.replaceAll("_", " ")}${head}: ${row}, ${column}.`;
}

function choose(cell) {
  pinned = cell.key;
  for (const other of $$('td[tabindex="0"]', cell.closest("table"))) other.tabIndex = -1;
  cell.tabIndex = 0;
  show(pinned);
}

function homeOf(key) {
  const all = cells.get(key) || [];
  return all.find((cell) => cell.closest(".home")) || all[0];
}

function goTo(key) {
  const cell = homeOf(key);
  if (!cell) { pinned = key; show(key); return; }
  const folded = cell.closest("details:not([open])");
  if (folded) folded.open = true;
  cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: "center", inline: "nearest", behavior: calm() });
}

const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

document.addEventListener("pointerover", (event) => {
  const cell = event.target.closest("td[data-c]");
  if (event.pointerType !== "mouse") return;
  if (cell) show(cell.key);
  else if (current !== pinned && !event.target.closest("#origin")) show(pinned);
});
document.addEventListener("focusin", (event) => {
  const cell = event.target.closest("td[data-c]");
  if (cell) choose(cell);
});
document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-key]");
  if (chip) return goTo(chip.dataset.key);
  const cell = event.target.closest("td[data-c]");
  if (!cell) return;
  if (event.target.closest("button")) { toggle(cell); choose(cell); } else if (event.target.tagName !== "INPUT") cell.focus();
});

const MOVES = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

function neighbour(cell, [down, right]) {
  if (right) {
    const row = $$("td[data-c]", cell.parentElement);
    return row[row.indexOf(cell) + right];
  }
  const lines = $$("tr[data-r]", cell.closest("table"));
  const line = lines[lines.indexOf(cell.parentElement) + down];
  return line && $(`td[data-c="${cell.dataset.c}"]`, line);
}

// ---- steps and keys -----------------------------------------------------------------------------------------

const sections = $$("main > section");

function currentSection() {
  const passed = sections.filter((section) => section.getBoundingClientRect().top < 140);
  return passed.length ? sections.indexOf(passed[passed.length - 1]) : -1;
}

function step(by) {
  const focused = sections.findIndex((section) => $("h2", section) === document.activeElement);
  const from = focused >= 0 ? focused : currentSection();
  const target = sections[Math.min(Math.max(from + by, 0), sections.length - 1)];
  const folded = $("details", target);
  if (folded && target.classList.contains("step")) folded.open = true;
  $("h2", target).focus({ preventScroll: true });
  target.scrollIntoView({ block: "start", behavior: calm() });
}

function foldAll() {
  const all = $$(".step > details");
  const open = all.some((details) => details.open);
  for (const details of all) details.open = !open;
  $("#fold").textContent = open ? "Unfold all" : "Fold all";
}

$("#next").addEventListener("click", () => step(1));
$("#previous").addEventListener("click", () => step(-1));
$("#fold").addEventListener("click", foldAll);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const cell = event.target.closest("td[data-c]");
  if (event.target.tagName === "INPUT") {
    if (event.key === "Enter") event.target.blur();
    return;
  }
  if (cell && MOVES[event.key]) {
    const next = neighbour(cell, MOVES[event.key]);
    if (next) next.focus();
    event.preventDefault();
  } else if (cell && event.target === cell && (event.key === "Enter" || event.key === " ")) {
    const inner = $("input, button", cell);
    if (inner) inner.focus();
    choose(cell);
    event.preventDefault();
  } else if (event.key === "Escape") {
    pinned = null;
    show(null);
  } else if (event.key === "n") step(1);
  else if (event.key === "p") step(-1);
  else if (event.key === "f") foldAll();
});

const links = new Map($$("#contents a").map((link) => [link.hash.slice(1), link]));
function follow() {
  const at = sections[Math.max(currentSection(), 0)];
  for (const [id, link] of links) {
    if (at && id === at.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
document.addEventListener("scroll", follow, { passive: true });
follow();

// ---- large matrices -----------------------------------------------------------------------------------------

function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function openWhole(button) {
  const table = $("table", button.parentElement);
  const item = items.get(table.dataset.m);
  const h = table.dataset.h === undefined ? null : Number(table.dataset.h);
  const [rows, columns] = item.labels.map((k) => (k === null ? null : data.labels[k]));
  for (const cell of $$("td[data-c]", table)) {
    const same = cells.get(cell.key);
    same.splice(same.indexOf(cell), 1);
  }
  const parts = [];
  if (columns) {
    const line = document.createElement("tr");
    if (rows) line.append(make("td", "", { class: "corner" }));
    line.append(...columns.map((name) => make("th", name, { scope: "col" })));
    const head = document.createElement("thead");
    head.append(line);
    parts.push(head);
  }
  const body = document.createElement("tbody");
  for (let i = 0; i < rowsOf(item); i++) {
    const line = make("tr", "", { "data-r": i });
    if (rows) line.append(make("th", rows[i], { scope: "row" }));
    for (let j = 0; j < columnsOf(item); j++) {
      const cell = make("td", pretty(item.texts[placeOf(item, h, i, j)]), { "data-c": j, tabindex: i + j ? -1 : 0 });
      line.append(cell);
    }
    body.append(line);
  }
  parts.push(body);
  table.replaceChildren(...parts);
  register(table);
  refresh(table);
  button.remove();
  $("td[data-c]", table).focus();
}

document.addEventListener("click", (event) => {
  if (event.target.matches("button.open")) openWhole(event.target);
});

// ---- live -----------------------------------------------------------------------------------------------------

function arrayOf(item, values) {
  const whole = { shape: item.heads ? [item.heads, ...item.shape] : [...item.shape], data: values };
  return data.flipped ? transpose(whole) : whole;
}

function recompute() {
  const inputs = {};
  for (const [letter, values] of given) inputs[letter] = arrayOf(items.get(letter), values);
  if (data.tempered) inputs.temperature = temperature;
  const out = attention(inputs);
  live = new Map(given);
  for (const [letter, value] of Object.entries(out)) live.set(letter, (data.flipped ? transpose(value) : value).data);
  settle();
}

function reset() {
  live = null;
  temperature = 1;
  digits = data.digits;
  for (const item of data.items) if (item.values) given.set(item.letter, Float64Array.from(item.values, readFloat));
  if ($("#temperature")) $("#temperature").value = "1";
  $("#digits").value = String(data.digits);
  settle();
  for (const input of $$("td input")) fill(input);
}

function settle() {
  document.body.classList.toggle("live", Boolean(live));
  $("#state").textContent = live
    ? "Live: computed here in floating point, not proven. Reset brings the proven digits back."
    : "Proven digits.";
  $("#reset").disabled = !live;
  for (const table of $$("table[data-m]")) refresh(table);
  for (const picture of $$(".lines-between")) redraw(picture);
  const note = $(".tempered");
  if (note) note.remove();
  if (live && temperature !== 1 && data.tempered) {
    const item = items.get(data.tempered);
    const home = $(`#${CSS.escape(item.name)} .lines`);
    if (home) home.append(make("p", `Divided by the temperature, ${temperature}, in this live calculation.`, { class: "tempered" }));
  }
  for (const line of $$(".worked")) {
    const item = items.get(line.dataset.m);
    line.innerHTML = workedLine(item, item.heads ? 0 : null, 0, 0);
  }
  show(current);
  reachable();
}

const largest = (item) => {
  let most = 1;
  for (let place = 0; place < item.texts.length; place++) {
    const size = Math.abs(valueAt(item, place));
    if (Number.isFinite(size) && size > most) most = size;
  }
  return most;
};

function refresh(table) {
  const item = items.get(table.dataset.m);
  const shaded = item.name === "weights";
  const most = shaded ? largest(item) : 1;
  for (const cell of $$("td[data-c]", table)) {
    const { place } = parsed(cell.key);
    const text = live ? pretty(textAt(item, place)) : shipped.get(cell);
    const [input, button] = [$("input", cell), $("button", cell)];
    if (button) {
      button.lastChild.textContent = text;
      button.setAttribute("aria-pressed", String(valueAt(item, place) === seen(item)));
    } else if (!input) cell.textContent = text;
    else if (document.activeElement !== input) fill(input);
    if (shaded) {
      for (let level = 0; level < SHADES; level++) cell.classList.remove(`w${level}`);
      const share = Math.min(Math.abs(valueAt(item, place)) / most, 1);
      cell.classList.add(`w${Math.round((share || 0) * (SHADES - 1))}`);
    }
  }
}

function redraw(picture) {
  const item = data.items.find((each) => each.name === "weights");
  const h = picture.dataset.h === undefined ? null : Number(picture.dataset.h);
  const most = largest(item);
  for (const line of $$("line", picture)) {
    const [i, j] = [Number(line.dataset.i), Number(line.dataset.j)];
    const place = data.flipped ? placeOf(item, h, j, i) : placeOf(item, h, i, j);
    const share = Math.abs(valueAt(item, place)) / most;
    line.setAttribute("stroke-width", share >= 0.01 ? (0.75 + 5 * share).toFixed(2) : "0");
    line.setAttribute("opacity", share >= 0.01 ? (0.25 + 0.75 * share).toFixed(2) : "0");
  }
}

// A number as people write it: 0.5, -2, 1/3, -inf.
function readNumber(text) {
  const plain = text.trim().replaceAll("−", "-").replace("∞", "inf");
  if (plain === "-inf") return -Infinity;
  const match = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*))?$/i.exec(plain);
  if (!match) return null;
  const value = Number(match[1]) / (match[2] ? Number(match[2]) : 1);
  return Number.isFinite(value) ? value : null;
}

function fill(input) {
  const { item, place } = parsed(input.parentElement.key);
  const value = given.get(item.letter)[place];
  input.value = value === -Infinity ? "-inf" : String(value);
  input.removeAttribute("aria-invalid");
}

// The value that lets a query see a key: 0 is added, or true is 1.
const isToggled = (item) => (item.name === "mask" && item.rule !== undefined) || item.name === "allowed";
const seen = (item) => (item.name === "allowed" ? 1 : 0);

function toggle(cell) {
  const { item, place } = parsed(cell.key);
  const values = given.get(item.letter);
  const hiddenValue = item.name === "allowed" ? 0 : -Infinity;
  values[place] = values[place] === seen(item) ? hiddenValue : seen(item);
  recompute();
}

let editing = false;
function edit() {
  editing = !editing;
  $("#edit").setAttribute("aria-pressed", String(editing));
  $("#edit").textContent = editing ? "Done" : "Change the numbers";
  document.body.classList.toggle("editing", editing);
  for (const table of $$(".home table")) {
    const item = items.get(table.dataset.m);
    if (!given.has(item.letter)) continue;
    for (const cell of $$("td[data-c]", table)) {
      if (!editing) { cell.replaceChildren(); continue; }
      const { h, i, j } = parsed(cell.key);
      if (isToggled(item)) {
        const button = make("button", "", { type: "button", class: "toggle" });
        button.append(make("span", `may be seen, ${placeWords(item, h, i, j)} `, { class: "spoken" }), make("span", ""));
        cell.replaceChildren(button);
        continue;
      }
      const input = make("input", "", { type: "text", inputmode: "decimal", size: "6", autocomplete: "off", "aria-label": placeWords(item, h, i, j) });
      cell.replaceChildren(input);
      fill(input);
    }
    refresh(table);
  }
}

document.addEventListener("change", (event) => {
  const input = event.target;
  if (input.id === "temperature") {
    const value = Number(input.value);
    input.setAttribute("aria-invalid", String(!(value > 0)));
    if (value > 0) { temperature = value; recompute(); }
  } else if (input.id === "digits") {
    const value = Number(input.value);
    const good = Number.isInteger(value) && value >= 0 && value <= 15 && input.value !== "";
    input.setAttribute("aria-invalid", String(!good));
    if (good) { digits = value; recompute(); }
  } else if (input.closest("td[data-c]")) {
    const value = readNumber(input.value);
    input.setAttribute("aria-invalid", String(value === null));
    if (value === null) { $("#state").textContent = `“${input.value}” is no number: write 0.5, -2 or 1/3.`; return; }
    const { item, place } = parsed(input.parentElement.key);
    given.get(item.letter)[place] = value;
    recompute();
  }
});

$("#edit").addEventListener("click", edit);
$("#reset").addEventListener("click", reset);

for (const table of $$("table[data-m]")) register(table);
$("#digits").value = String(data.digits);
$("#controls").hidden = false;
addEventListener("resize", reachable);
reachable();
if (matchMedia("(max-width: 60rem)").matches) $("#contents details").open = false;
