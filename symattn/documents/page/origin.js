// The chosen entry: the entries it is computed from, marked in their matrices and listed below its worked line.

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

function select(key) {
  for (const cell of cells.get(pinned) || []) cell.removeAttribute("aria-selected");
  pinned = key;
  for (const cell of cells.get(pinned) || []) cell.ariaSelected = "true";
}

function choose(cell) {
  stopAt(cell);
  select(cell.key);
  show(pinned);
  document.documentElement.style.scrollPaddingBottom = `${$("#origin").offsetHeight}px`; // the panel hides no focus
  if (document.activeElement === cell) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
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
  if (chip) { goTo(chip.dataset.key); return announce(chip.dataset.key); }
  const cell = event.target.closest("td[data-c]");
  if (!cell) return;
  if (event.target.closest("button")) { toggle(cell); choose(cell); } else if (event.target.tagName !== "INPUT") { cell.focus(); announce(cell.key); }
});

KEYS.Escape = () => {
  select(null);
  show(null);
};

whenSettled(() => {
  for (const line of $$(".worked")) {
    const item = items.get(line.dataset.m);
    line.innerHTML = workedLine(item, item.heads ? 0 : null, 0, 0);
  }
  show(current);
  reachable();
});

addEventListener("resize", reachable);
reachable();
