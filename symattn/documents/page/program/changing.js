// Given numbers, changed where they stand: dragged sideways, typed, and, in a mask, switched.

// The value that lets a query see a key: 0 is added, or true is 1; and the one that hides it.
const isToggled = (item) => (item.name === "mask" && item.rule !== undefined) || item.name === "allowed";
const seen = (item) => (item.name === "allowed" ? 1 : 0);
const unseen = (item) => (item.name === "allowed" ? 0 : -Infinity);
const switched = ({ item, place }) => {
  const isSeen = given.get(item.letter).floats[place] === seen(item);
  return (isSeen ? String(unseen(item)) : String(seen(item))).replace("Infinity", "inf");
};

const isOpen = (item) => !data.chunk && given.has(item.letter);
const openCell = (target) => { const cell = target.closest?.(".home td[data-c]"); return cell && isOpen(cell.entry.item) ? cell : null; };

// ---- typing ----

function fill(input) {
  input.value = input.parentElement.entry.typed;
  input.size = Math.min(Math.max(input.value.length, 6), 24);
  input.removeAttribute("aria-invalid");
}

// Opens a field in the cell, with its number or with what was typed first; of a mask it switches the cell.
function change(cell, first = null) {
  const { entry } = cell;
  if (isToggled(entry.item)) { put(entry, switched(entry)); return; }
  const input = make("input", "", { type: "text", inputmode: "decimal", maxlength: "200", autocomplete: "off", "aria-label": placeWords(entry) });
  cell.replaceChildren(input);
  fill(input);
  input.focus();
  if (first === null) input.select(); else input.value = first;
}

// Takes the field away; what was refused stays in it, until it is mended or left with Escape.
function shut(input, given_up = false) {
  const cell = input.parentElement;
  if (!cell || (!given_up && input.getAttribute("aria-invalid") === "true")) return false;
  if (given_up) fill(input); // a field that is taken away is left, and what stands in it would count
  cell.replaceChildren(cell.entry.text);
  refresh(cell.closest("table"));
  return true;
}
// Takes what stands in the field, where it is another text.
function take(input) {
  const { entry } = input.parentElement;
  input.ariaInvalid = input.value.trim() !== entry.typed && put(entry, input.value) !== "";
}
document.addEventListener("focusout", (event) => {
  if (!event.target.matches("td input")) return;
  take(event.target);
  shut(event.target);
});
addEventListener("beforeprint", () => { for (const input of $$("td input")) { take(input); shut(input, true); } });

// A decimal with so many units of its last place more, of the first place after the point at least; null for what is none.
function stepped(text, by, least = 0) {
  const match = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text.replace("−", "-"));
  if (!match) return null;
  const [, sign, before, after = ""] = match;
  const places = Math.max(after.length, least);
  return certified.fixed(BigInt(sign + before + after.padEnd(places, "0")) + by, places);
}

document.addEventListener("keydown", (event) => {
  const input = event.target;
  if (!input.matches("td input")) return;
  const cell = input.parentElement;
  const by = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
  const next = by && stepped(input.value, by);
  if (next) {
    input.value = next;
    take(input);
  } else if (event.key === "Enter" || event.key === "Escape") {
    if (event.key === "Enter") take(input);
    if (shut(input, event.key === "Escape")) cell.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}, true);

// ---- dragging ----

const PIXELS = 8; // a step of the number
let pull = null; // the pressed cell, and what becomes of it until the click that follows, which touch may send late

document.addEventListener("pointerdown", (event) => {
  pull = null;
  const cell = openCell(event.target);
  if (!cell || event.button || event.target.tagName === "INPUT") return;
  const { entry } = cell;
  const from = stepped(entry.typed, 0n) ?? stepped(certified.shown(entry.number, 1, data.rounding).text, 0n);
  pull = { cell, entry, from, x: event.clientX, text: null, drawn: isToggled(entry.item) ? switched(entry) : null, isOver: false, wasChosen: document.activeElement === cell };
});

document.addEventListener("pointermove", (event) => {
  if (!pull || pull.isOver) return;
  const by = Math.trunc((event.clientX - pull.x) / PIXELS);
  const under = pull.drawn !== null && openCell(document.elementFromPoint(event.clientX, event.clientY) ?? pull.cell);
  if (pull.drawn !== null) {
    if (!under || (under === pull.cell && pull.text === null)) return;
    for (const { entry } of [pull.cell, under]) if (entry.item === pull.entry.item && entry.typed !== pull.drawn) assign(entry, pull.drawn);
    pull.text = pull.drawn;
  } else {
    const text = (by || pull.text !== null) && pull.from !== null ? stepped(pull.from, BigInt(by), 1) : null;
    if (text === null || text === pull.text) return;
    pull.text = text;
    if (assign(pull.entry, text)) return;
  }
  event.preventDefault();
  recompute(true);
});

whenLetGo(document, ({ type }) => {
  if (pull?.text != null) changed("");
  if (type === "pointerup" && pull) pull.isOver = true; else pull = null;
});

// A click on the number that is chosen already opens it; not the click that ends a drag.
document.addEventListener("click", (event) => {
  const pressed = event.detail ? pull : null; // a key's click has no press
  pull = null;
  if (pressed?.text != null) { event.stopPropagation(); pressed.cell.focus({ preventScroll: true }); return; }
  const cell = openCell(event.target);
  if (cell && pressed?.wasChosen && event.target.tagName !== "INPUT") { event.stopPropagation(); change(cell); }
}, true);

for (const table of $$(".home table")) {
  const item = items.get(table.dataset.m);
  if (isOpen(item)) table.classList.add(isToggled(item) ? "switched" : "dragged");
}
if ($("#given table.dragged")) $("#given-heading").after(make("p", "Drag a number sideways, or choose it and type another.", { class: "hint" }));
