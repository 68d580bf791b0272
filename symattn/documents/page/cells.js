// Cells: every entry in sight by its key, what it shows, and moving from one to the next.

const cells = new Map(); // key → every cell that shows this entry

function register(table) {
  const { m, h = "", turned } = table.dataset;
  for (const row of $$("tr[data-r]", table))
    for (const cell of $$("td[data-c]", row)) {
      const [i, j] = turned === undefined ? [row.dataset.r, cell.dataset.c] : [cell.dataset.c, row.dataset.r];
      const key = `${m}|${h}|${i}|${j}`;
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
  } else if (KEYS[event.key]) KEYS[event.key](event);
});

for (const table of $$("table[data-m]")) register(table);
whenSettled(() => { for (const table of $$("table[data-m]")) refresh(table); });
