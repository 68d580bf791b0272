// Cells: every entry in sight by its key, what it shows, and moving from one to the next.

const cells = new Map(); // key → every cell that shows this entry
const headCell = (name, scope) => make("th", name, { scope, title: name });

function register(table) {
  const { m, turned } = table.dataset;
  const item = items.get(m);
  const h = numberIn(table, "h");
  table.setAttribute("role", "grid");
  // Where nothing is left out, rows and cells have the numbers of their places.
  if (!$(".gap", table))
    for (const [i, row] of $$("tbody tr", table).entries()) {
      row.dataset.r = i;
      for (const [j, cell] of $$("td", row).entries()) cell.dataset.c = j;
    }
  for (const row of $$("tr[data-r]", table))
    for (const cell of $$("td[data-c]", row)) {
      const [i, j] = turned === undefined ? [row.dataset.r, cell.dataset.c] : [cell.dataset.c, row.dataset.r];
      const entry = new Entry(item, h, Number(i), Number(j));
      const { key, place } = entry;
      Object.assign(cell, { entry, key });
      if (cells.has(key)) cells.get(key).push(cell); else cells.set(key, [cell]);
      if (saved) cell.textContent = pretty(item.texts[place]);
      if (!shipped.has(cell)) shipped.set(cell, cell.textContent);
      if (saved) cell.className = "";
      cell.kinds = cell.className;
      cell.tabIndex = -1;
    }
  level(table);
  if (item.masks) for (const cell of $$("td[data-c]", table)) entitle(cell);
  stopAt($("td[data-c]", table));
}

function parsed(key) {
  const [letter, h, i, j] = key.split("|");
  return new Entry(items.get(letter), h === "" ? null : Number(h), Number(i), Number(j));
}

const placeWords = (entry) => {
  const [whole, row, column] = namesOf(entry);
  return entry.item.alone ? `${whole}.` : `${whole}: ${row}, ${column}.`;
};
const entryWords = (entry) => {
  const [whole, row, column] = namesOf(entry);
  return entry.item.alone ? whole : `${whole} [${row}, ${column}]`;
};

// A name that is written from right to left stays apart from the words around it.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const apart = (name) => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

function namesOf({ item, h, i, j }) {
  const [rows, columns] = labelsOf(item);
  const row = rows ? apart(rows[i]) : `row ${i + data.base}`;
  const column = columns ? apart(columns[j]) : `column ${j + data.base}`;
  const head = h === null ? "" : `, head ${h + data.base}`;
  return [item.name.replaceAll("_", " ") + head, row, column];
}

// Of weights, whether a mask hides this key from this query.
const sameIn = (other, { h, i, j }) => new Entry(other, other.heads ? h : null, i, j);
const isMasked = (entry) => entry.value === 0 && (entry.item.masks || []).some((letter) => sameIn(items.get(letter), entry).value === -Infinity);

// Each matrix is one stop of the Tab key, at the cell that was last focused, which has its place in its name.
function stopAt(cell) {
  for (const other of $$('td[tabindex="0"]', cell.closest("table"))) { other.tabIndex = -1; entitle(other); }
  cell.tabIndex = 0;
  entitle(cell);
}

function entitle(cell) {
  const { entry } = cell;
  const [, row, column] = namesOf(entry);
  const [isStop, masked] = [cell.tabIndex === 0, isMasked(entry) ? ", masked" : ""];
  const number = `${entry.text}${masked}`;
  cell.ariaLabel = isStop && !entry.item.alone ? `${row}, ${column}: ${number}` : isStop || masked ? number : null;
}

// Where a key leads from row i and column j, as in every grid; what is beyond the last is the last.
const PAGE = 10;
const MOVES = {
  ArrowRight: (i, j) => [i, j + 1],
  ArrowLeft: (i, j) => [i, j - 1],
  ArrowDown: (i, j) => [i + 1, j],
  ArrowUp: (i, j) => [i - 1, j],
  PageDown: (i, j) => [i + PAGE, j],
  PageUp: (i, j) => [i - PAGE, j],
  Home: (i) => [i, 0],
  End: (i) => [i, Infinity],
};
const CORNERS = { Home: () => [0, 0], End: () => [Infinity, Infinity] };

function moved(cell, move) {
  const lines = $$("tr[data-r]", cell.closest("table"));
  const [i, j] = move(lines.indexOf(cell.parentElement), $$("td[data-c]", cell.parentElement).indexOf(cell));
  return nearestIn($$("td[data-c]", nearestIn(lines, i)), j);
}

// The only thing said aloud about a cell, and only when it is chosen: of what its number is made.
const MOST_SAID = 6;
function announce(entry) {
  const { rule } = entry.item;
  const from = new Map(rule ? [...reads(rule, entry)].map((one) => [one.key, one]) : []);
  const said = [...from.values()].slice(0, MOST_SAID).map((one) => `${entryWords(one)} ${one.text}`);
  if (from.size > MOST_SAID) said.push(`${from.size - MOST_SAID} more`);
  const made = rule ? said.length && `It comes from ${said.join("; ")}.` : "It is given.";
  $("#said").textContent = [`${entryWords(entry)} is ${entry.text}.`, made].filter(Boolean).join(" ");
}

// The place of the entry that is as dark as any; null where that is 1, since all are smaller.
function darkest(item) {
  let [most, found] = [1, null];
  for (let place = 0; place < item.texts.length; place++) {
    const size = Math.abs(valueAt(item, place));
    if (Number.isFinite(size) && size > most) [most, found] = [size, place];
  }
  return found;
}
const largest = (item) => { const place = darkest(item); return place === null ? 1 : Math.abs(valueAt(item, place)); };

function refresh(table) {
  const item = items.get(table.dataset.m);
  const shaded = item === weighed;
  const most = shaded ? largest(item) : 1;
  for (const cell of $$("td[data-c]", table)) {
    const { entry } = cell;
    const text = live ? entry.text : shipped.get(cell);
    const input = cell.firstElementChild;
    if (!input) { if (cell.textContent !== text) cell.textContent = text; }
    else if (document.activeElement !== input) fill(input);
    if (shaded || cell.tabIndex === 0) entitle(cell);
    if (!shaded) continue;
    const share = Math.min(Math.abs(entry.value) / most, 1);
    const kinds = `w${Math.round((share || 0) * (SHADES - 1))}${isMasked(entry) ? " masked" : ""}`;
    if (cell.kinds === kinds) continue;
    if (cell.kinds) cell.classList.remove(...cell.kinds.split(" "));
    cell.classList.add(...kinds.split(" "));
    cell.kinds = kinds;
  }
  level(table);
}

// What each text of a column lacks of the longest decimal, for their points to be level; nothing where one is none.
function lackingIn(texts) {
  const tails = texts.map((text) => /^[-−]?(?:∞|inf|\d+)?(\.\d+|)$/.exec(text)?.[1] ?? null);
  const most = tails.includes(null) ? "" : tails.reduce((a, b) => (a.length < b.length ? b : a));
  return texts.map((text, k) => (/(∞|inf)$/.test(text) ? "" : most.slice(tails[k]?.length)));
}

// Behind each decimal the unseen figures that its column has.
function level(table) {
  const columns = new Map();
  for (const cell of $$("tbody td[data-c]", table)) {
    const { c } = cell.dataset;
    if (columns.has(c)) columns.get(c).push(cell); else columns.set(c, [cell]);
  }
  for (const column of columns.values()) {
    const lacking = lackingIn(column.map((cell) => cell.textContent));
    column.forEach((cell, k) => { if (cell.dataset.f !== lacking[k]) cell.dataset.f = lacking[k]; });
  }
}

document.addEventListener("keydown", (event) => {
  const { target, ctrlKey, metaKey } = event;
  if (event.altKey) return;
  if (target.tagName === "INPUT" && event.key === "Enter") { target.blur(); target.focus(); }
  const isCommand = ctrlKey || metaKey;
  if (event.key !== "Escape" && target.matches(isCommand ? "input:not([type=range]), textarea" : "input, select, textarea")) return;
  const cell = target.closest("td[data-c]");
  const move = !metaKey && (ctrlKey ? CORNERS : MOVES)[event.key];
  if (cell && move) {
    moved(cell, move).focus();
    event.preventDefault();
  } else if (isCommand || target !== cell) doKey(event);
  else if (event.key === "Enter" || event.key === " ") {
    choose(cell);
    if (openCell(cell)) change(cell); else announce(cell.entry);
    event.preventDefault();
  } else if (openCell(cell) && /^[-−.\d]$/.test(event.key) && !isToggled(cell.entry.item)) {
    change(cell, event.key);
    event.preventDefault();
  } else doKey(event);
});

for (const table of $$("table[data-m]")) register(table);
whenSettled(() => { for (const table of $$("table[data-m]")) refresh(table); });
