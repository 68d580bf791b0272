// The chosen entry: the entries it is computed from, or those that it reaches, marked in their matrices and told in a
// panel below.

const MARKS = ["chosen", "from", "source", "of-q", "of-k", "of-v", "of-a", "of-x", "of-y"];
const marked = []; // while something is dragged these stay
function mark(key, kind) {
  for (const cell of held ? [] : cells.get(key) || []) { cell.classList.add(...kind.split(" ")); marked.push(cell); }
}

let pinned = null;
let current = null;
let onward = false; // whether a computed entry shows what it reaches

const comesFrom = (item) => isStep(item) && item.sources.size > 0;
// While the mouse passes over a large page, what is near is shown and the rest once the entry is chosen.
const isPassing = (key) => entries > AT_ONCE && key !== pinned;
const isOnward = (item) => isRead(item) && (onward || !comesFrom(item));
// The matrices beside the chosen one, each in its colour.
const kindsOf = (item, letters) => { const hues = huesOf(item, letters); return (letter) => (letters.includes(letter) ? `source of-${hues.get(letter)}` : "from"); };

function show(key) {
  for (const cell of held ? [] : marked.splice(0)) cell.classList.remove(...MARKS);
  current = key;
  const panel = $("#origin");
  panel.hidden = !key;
  document.body.classList.toggle("choosing", Boolean(key));
  if (!key) return;
  const entry = parsed(key);
  const { item } = entry;
  const told = isOnward(item) ? lightReached(entry) : lightSources(entry);
  mark(key, "chosen");
  tell(entry, told);
  const home = $(`.worked[data-m="${CSS.escape(item.letter)}"]`);
  const lines = $$(".line", panel);
  if (home && item.rule && !isPassing(key)) {
    write(home, workedLine(entry));
    home.dataset.entry = key;
    lines.push(home);
  }
  reachable(lines);
}

// What the entry is computed from in colours, and everything before that underlined.
function lightSources(entry) {
  const { item, key } = entry;
  const direct = isStep(item) ? [...reads(item.rule, entry)] : [];
  const kindOf = kindsOf(item, [...new Set(direct.map((one) => one.item.letter))]);
  const kinds = new Map(direct.map((one) => [one.key, kindOf(one.item.letter)]));
  const seen = new Set(kinds.keys());
  const back = isPassing(key) || !isStep(item) ? [] : [...counting(item.rule, entry)];
  while (back.length && seen.size < 5000) {
    const one = back.pop();
    if (!isStep(one.item)) continue;
    for (const before of counting(one.item.rule, one)) {
      if (seen.has(before.key)) continue;
      seen.add(before.key);
      back.push(before);
      mark(before.key, "from");
    }
  }
  for (const [one, kind] of kinds) mark(one, kind);
  return sourcesTold(entry, kinds);
}

// What changes with the entry: what reads it itself in colours, and everything after that underlined.
function lightReached(entry) {
  const { item, key } = entry;
  const found = reached(entry, key === pinned && (() => { if (current === key) show(key); }));
  const kindOf = kindsOf(item, [...found.changed.keys()].filter((letter) => items.get(letter).sources?.has(item.letter)));
  for (const [letter, places] of found.changed)
    for (const place of places) mark(entryIn(items.get(letter), place).key, kindOf(letter));
  return reachTold(entry, found, kindOf);
}

// ---- the panel ----------------------------------------------------------------------------------------

const MOST_CHIPS = 16;
const MOST_PRODUCTS = 5;

function chip(key, kind, math, words) {
  const made = makeOf("button", math && `<math aria-hidden="true">${math}</math>`, { type: "button", class: `chip ${kind}`, "data-key": key });
  made.prepend(make("span", words, math ? { class: "spoken" } : {}));
  return made;
}

const valueOf = (entry) => mrow(nameOf(entry), mo(entry.isExact ? "=" : "≈"), numeral(textAt(entry.item, entry.place)).markup);
const entryChip = (entry, kind) => chip(entry.key, kind, valueOf(entry), `${placeWords(entry)} ${entry.text}`);

const among = (tag, name, ...children) => make(tag, children, { class: name });

// The operands in order; of a sum of products these, the heaviest first, with what each adds.
function sourcesTold(entry, kinds) {
  if (!isStep(entry.item)) return [];
  const products = isPassing(current) ? null : productsOf(entry.item.rule, entry);
  if (!products || products.length < 2) {
    const order = ({ item, place }) => 1e9 * data.items.indexOf(item) + place;
    const sorted = [...kinds.keys()].map(parsed).sort((one, other) => order(one) - order(other));
    const chips = among("div", "chips", ...sorted.slice(0, MOST_CHIPS).map((one) => entryChip(one, kinds.get(one.key))));
    if (kinds.size > MOST_CHIPS) chips.append(` and ${kinds.size - MOST_CHIPS} more`);
    return kinds.size ? [chips] : [];
  }
  const told = products.slice(0, MOST_PRODUCTS);
  const left = products.slice(MOST_PRODUCTS);
  const list = among("ol", "products", ...told.map(({ factors, shown, share }) => {
    const line = among("li", "chips", ...factors.map((one) => entryChip(one, kinds.get(one.key))));
    if (shown) {
      const names = factors.map(nameOf).join("");
      const adds = makeOf("span", `adds <math>${mrow(names, mo(shown.exact ? "=" : "≈"), numeral(shown.text).markup)}</math>`, { class: "adds" });
      if (share !== undefined) adds.append(`, ${share}`);
      line.append(adds);
    }
    return line;
  }));
  const heading = among("p", "told", products[0].factors.some((one) => one.item === weighed) ? "What it is the sum of, the largest weight first:" : "What it is the sum of, the largest product first:");
  const rest = left.length ? [among("p", "told", `and ${left.length} more, ${left.every((one) => one.none) ? "each 0" : "none heavier"}`)] : [];
  return [heading, list, ...rest];
}

const counted = (found, letter) => `${items.get(letter).name.replaceAll("_", " ")}: ${found.get(letter).size} of ${items.get(letter).texts.length}`;

// How many entries of which steps change, each leading to the first of them; what is computed from it and does not.
function reachTold({ item, h, i, j }, { read, changed, direct }, kindOf) {
  const count = (found) => [...found.values()].reduce((sum, places) => sum + places.size, 0);
  const still = count(read) - count(changed);
  const words = direct ? "It is read by" : changed.size ? "Another number here changes" : "Another number here changes nothing.";
  const line = among("div", "chips", words, ...[...changed].map(([letter, places]) => chip(entryIn(items.get(letter), Math.min(...places)).key, kindOf(letter), "", counted(changed, letter))));
  const out = [line];
  if (still) out.push(among("p", "told", `${still} more ${still === 1 ? "entry is" : "entries are"} computed from it and ${still === 1 ? "stays" : "stay"} the same, to nine digits: a mask or a factor of 0 cuts it off, or it cancels.`));
  const gradient = data.items.find((one) => one.gradientOf === item.letter);
  if (gradient) out.unshift(among("div", "chips", "The gradient of the loss with respect to it:", entryChip(new Entry(gradient, h, i, j), "")));
  return out;
}

function tell(entry, told) {
  const { item, key } = entry;
  const where = among("p", "where", [placeWords(entry), isStep(item) ? "" : "This number is given.", live ? answered() : ""].filter(Boolean).join(" "));
  if ($("td.from")) {
    const words = isOnward(item) ? "what changes with it further on" : "what it depends on further back";
    where.append(" ", among("span", "legend", make("span", "Underlined", { class: "from" }), `: ${words}.`));
  }
  const math = makeOf("div", isPassing(key) ? display(valueOf(entry)) : workedLine(entry), { class: "line" });
  $("#origin .origin").replaceChildren(where, math, ...told, ...claimTold(key));
  $("#origin .latex").hidden = !item.latex;
  for (const way of $$("#origin [data-way]")) {
    way.hidden = !comesFrom(item) || !isRead(item);
    way.ariaPressed = (way.dataset.way === "on") === isOnward(item);
  }
}

// What is larger than its place goes on below, or is scrolled, by keys too; while something is dragged nothing is measured.
function reachable(boxes = $$(".line, .worked")) {
  boxes.forEach(wrapLine);
  if (held) return;
  const wide = boxes.map((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight + 4);
  boxes.forEach((box, k) => { if (wide[k]) box.tabIndex = 0; else box.removeAttribute("tabindex"); });
}

function select(key) {
  for (const cell of cells.get(pinned) || []) cell.removeAttribute("aria-selected");
  pinned = key;
  for (const cell of cells.get(pinned) || []) cell.ariaSelected = "true";
  follow();
}

function choose(cell) {
  stopAt(cell);
  cell.closest("main > section").after($("#origin")); // where the Tab key leads to it
  select(cell.key);
  if (current !== pinned) $("#origin").classList.remove("high"); // what the mouse chooses leaves it where it was
  show(pinned);
}

function homeOf(key) {
  const all = cells.get(key) || [];
  return all.find((cell) => cell.closest(".home")) || all[0];
}

function goTo(key) {
  const cell = homeOf(key);
  if (!cell) { select(key); show(key); return; }
  const folded = cell.closest("details:not([open])");
  if (folded) folded.open = true;
  cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: "center", inline: "nearest", behavior: calm() });
}

document.addEventListener("pointerover", (event) => {
  const cell = event.target.closest("td[data-c]");
  if (event.pointerType !== "mouse" || event.buttons) return; // what is dragged stays chosen
  const panel = $("#origin");
  if (cell) {
    if (cell.key === current) return;
    show(cell.key);
    // What the mouse points at is not under the panel that it opens.
    panel.classList.toggle("high", current !== pinned && cell.getBoundingClientRect().bottom > innerHeight - panel.offsetHeight);
  } else if (current !== pinned && !event.target.closest("#origin")) { show(pinned); panel.classList.remove("high"); }
});
document.addEventListener("focusin", (event) => {
  const cell = event.target.closest("td[data-c]");
  if (cell) choose(cell);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-key]");
  if (link) { goTo(link.dataset.key); return announce(parsed(link.dataset.key)); }
  const way = event.target.closest("[data-way]");
  if (way) return turn(way.dataset.way === "on");
  const cell = event.target.closest("td[data-c]");
  if (!cell) return;
  if (event.target.tagName !== "INPUT") { cell.focus(); announce(cell.entry); }
});

function turn(on) {
  onward = on;
  show(current);
}

function close() {
  const cell = pinned && homeOf(pinned);
  const inside = $("#origin").contains(document.activeElement);
  select(null);
  show(null);
  if (inside && cell) { cell.focus({ preventScroll: true }); select(null); show(null); }
}

keysWhile(always, { Escape: close, i() { if (current) turn(!onward); } });
$("#origin .close").addEventListener("click", close);

whenSettled(() => {
  for (const line of $$(".worked")) write(line, workedLine(parsed(line.dataset.entry)));
  show(current);
  reachable();
});

addEventListener("resize", () => reachable());
reachable();
