// The page: cells that say where they come from, and numbers that can be changed.

// ---- cells ----

const cells = new Map(); // key → every cell that shows this entry

// A saved copy of a changed page opens with the numbers that the page came with.
const saved = document.body.classList.contains("live") || document.body.classList.contains("editing");
document.body.className = "";

function register(table) {
  const { m, h = "" } = table.dataset;
  for (const row of $$("tr[data-r]", table))
    for (const cell of $$("td[data-c]", row)) {
      const key = `${m}|${h}|${row.dataset.r}|${cell.dataset.c}`;
      cell.key = key;
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(cell);
      if (saved) cell.textContent = pretty(items.get(m).texts[parsed(key).place]);
      if (!shipped.has(cell)) shipped.set(cell, cell.textContent);
    }
  level(table);
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

let certifying = null; // the timer of the work that proves the digits anew

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
  where.textContent = [placeWords(item, h, i, j), item.rule ? "" : "This number is given.", live ? ANSWERS[state()] : ""].filter(Boolean).join(" ");
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

const placeWords = (item, h, i, j) => {
  const [whole, row, column] = namesOf(item, h, i, j);
  return `${whole}: ${row}, ${column}.`;
};
const entryWords = (item, h, i, j) => {
  const [whole, row, column] = namesOf(item, h, i, j);
  return `${whole} [${row}, ${column}]`;
};

function namesOf(item, h, i, j) {
  const [rows, columns] = item.labels.map((k) => (k === null ? null : data.labels[k]));
  const row = rows ? rows[i] : `row ${i + data.base}`;
  const column = columns ? columns[j] : `column ${j + data.base}`;
  const head = h === null ? "" : `, head ${h + data.base}`;
  return [item.name.replaceAll("_", " ") + head, row, column];
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

// ---- steps and keys ----

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

// ---- large matrices ----

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

// ---- live ----

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

const MOST_CHANGES = 12;

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

// The line below the title says what the digits are worth, on paper and in a saved copy too.
function tellChanges() {
  const list = live ? changes() : [];
  const told = list.slice(0, MOST_CHANGES).map((words) => make("li", words));
  if (list.length > MOST_CHANGES) told.push(make("li", `and ${list.length - MOST_CHANGES} more`));
  const lines = make("ul", "");
  lines.append(...told);
  $("#changed").replaceChildren(...(live ? [make("p", `Changed. ${ANSWERS[state()]}`), lines] : []));
  for (const item of data.items) {
    if (!given.has(item.letter) || !isToggled(item) || !item.rule) continue;
    const edited = live && item.first.texts.some((_, place) => isChanged(item, place));
    $(`#${CSS.escape(item.name)}`).classList.toggle("edited", Boolean(edited));
  }
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
  if ($("#temperature")) $("#temperature").value = "1";
  $("#digits").value = String(data.digits);
  settle();
  for (const input of $$("td input")) fill(input);
}

function settle() {
  document.body.classList.toggle("live", Boolean(live));
  $("main").setAttribute("aria-busy", String(certifying !== null));
  $("#state").textContent = live ? `Changed. ${ANSWERS[state()]}` : "Proven digits.";
  $("#reset").disabled = !live;
  tellChanges();
  for (const table of $$("table[data-m]")) refresh(table);
  for (const picture of $$(".lines-between")) redraw(picture);
  const note = $(".tempered");
  if (note) note.remove();
  if (live && temperature !== "1" && data.tempered) {
    const item = items.get(data.tempered);
    const home = $(`#${CSS.escape(item.name)} .lines`);
    if (home) home.append(make("p", `Divided by the temperature, ${temperature}, here.`, { class: "tempered" }));
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
    } else if (!input) { if (cell.textContent !== text) cell.textContent = text; }
    else if (document.activeElement !== input) fill(input);
    if (shaded) {
      const share = Math.min(Math.abs(valueAt(item, place)) / most, 1);
      const shade = `w${Math.round((share || 0) * (SHADES - 1))}`;
      if (cell.classList.contains(shade)) continue;
      for (let level = 0; level < SHADES; level++) cell.classList.remove(`w${level}`);
      cell.classList.add(shade);
    }
  }
  level(table);
}

// Behind each decimal the unseen figures that its column has.
function level(table) {
  const columns = new Map();
  for (const cell of $$("tbody td[data-c]", table)) {
    const { c } = cell.dataset;
    if (columns.has(c)) columns.get(c).push(cell); else columns.set(c, [cell]);
  }
  for (const column of columns.values()) {
    const tails = column.map((cell) => /^−?(?:∞|\d+)(\.\d+|)$/.exec(cell.textContent));
    const most = tails.includes(null) ? "" : tails.map((tail) => tail[1]).reduce((a, b) => (a.length < b.length ? b : a));
    column.forEach((cell, k) => {
      const unseen = most.slice(tails[k]?.[1].length);
      if (cell.dataset.f !== unseen) cell.dataset.f = unseen;
    });
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

function fill(input) {
  const { item, place } = parsed(input.parentElement.key);
  input.value = given.get(item.letter).texts[place];
  input.removeAttribute("aria-invalid");
}

// The value that lets a query see a key: 0 is added, or true is 1.
const isToggled = (item) => (item.name === "mask" && item.rule !== undefined) || item.name === "allowed";
const seen = (item) => (item.name === "allowed" ? 1 : 0);

function toggle(cell) {
  const { item, place } = parsed(cell.key);
  const hiddenValue = item.name === "allowed" ? "0" : "-inf";
  put(item, place, given.get(item.letter).floats[place] === seen(item) ? hiddenValue : String(seen(item)));
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
        button.append(make("span", `may be attended to, ${placeWords(item, h, i, j)} `, { class: "spoken" }), make("span", ""));
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
    const read = readNumber(input.value);
    const good = read?.float > 0;
    input.setAttribute("aria-invalid", String(!good));
    if (good) { temperature = equal(read.number, certified.certain(1)) ? "1" : input.value.trim(); recompute(); }
  } else if (input.id === "digits") {
    const value = Number(input.value);
    const good = Number.isInteger(value) && value >= 0 && value <= 15 && input.value !== "";
    input.setAttribute("aria-invalid", String(!good));
    if (good) { digits = value; recompute(); }
  } else if (input.closest("td[data-c]")) {
    const { item, place } = parsed(input.parentElement.key);
    const complaint = put(item, place, input.value);
    input.setAttribute("aria-invalid", String(complaint !== ""));
    if (complaint) $("#state").textContent = complaint;
  }
});

$("#edit").addEventListener("click", edit);
$("#reset").addEventListener("click", reset);

for (const table of $$("table[data-m]")) register(table);
if (saved) settle();
$("#digits").value = String(data.digits);
$("#controls").hidden = false;
// For a reader at the console: every number with all its bits, and where it comes from.
const asked = (f) => (letter, i, j, h = null) => f(items.get(letter), h, i, j);
globalThis.symattn = Object.freeze({
  letters: data.items.map((item) => item.letter),
  value: asked((item, h, i, j) => valueAt(item, placeOf(item, h, i, j))),
  byRule: asked((item, h, i, j) => certified.nearest(evaluate(item.rule, { i, j, h }))),
  reads: asked((item, h, i, j) => [...reads(item.rule, { i, j, h })].map((entry) => entry.key)),
  worked: asked(workedLine),
});

addEventListener("resize", reachable);
reachable();
if (matchMedia("(max-width: 60rem)").matches) $("#contents details").open = false;
