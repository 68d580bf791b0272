// The query that is followed: which row of a matrix is its own, and which steps it goes through.

const acts = data.items.filter((item) => item.rule && sectionOf(item)?.querySelector(".home table"));
const weighed = items.get(data.weighed);

// Whether the rows (0) or the columns (1) of a matrix belong to queries, by its letter. Before the weights each entry of
// a query's row has to read this row alone of an operand; after them the rows are those of the operands.
const isOf = (index, name) => dependsOn(index, name) && !dependsOn(index, name === "i" ? "j" : "i");
const axes = new Map();
const central = weighed ?? data.items.filter((item) => item.rule && !item.alone).at(-1) ?? data.items[0];
axes.set(central.letter, data.flipped ? 1 : 0);
const sideWhere = (holds) => [0, 1].find((side) => holds(side));
for (const item of data.items.slice(0, data.items.indexOf(central) + 1).reverse()) {
  const name = "ij"[axes.get(item.letter)];
  const read = item.rule && name ? [...entriesIn(item.rule)] : [];
  for (const letter of new Set(read.map((entry) => entry[1]))) {
    const side = sideWhere((one) => read.every((entry) => entry[1] !== letter || isOf(entry[3 + one], name)));
    if (side !== undefined && !axes.has(letter)) axes.set(letter, side);
  }
}
for (const item of data.items.slice(data.items.indexOf(central) + 1)) {
  const read = [...entriesIn(item.rule ?? [])].filter((entry) => axes.has(entry[1]));
  const side = read.length ? sideWhere((one) => read.every((entry) => isOf(entry[3 + axes.get(entry[1])], "ij"[one]))) : axes.get(item.gradientOf);
  if (side !== undefined) axes.set(item.letter, side);
}

const axisOf = (item) => axes.get(item.letter) ?? 0;
const hasRow = (item) => axes.has(item.letter) && queriesOf(item) === queriesOf(central); // not where rows are stacked
const lineIn = (item, { i, j }) => [i, j][axisOf(item)]; // of which query an entry is
const keyIn = (item, { i, j }) => [j, i][axisOf(item)]; // of which key, or component
const queriesOf = (item) => item.shape[axisOf(item)];
const widthOf = (item) => item.shape[1 - axisOf(item)];

// The entries of one query: those of a matrix have the head that is followed, where it has heads and no other is asked for.
const headOf = (item) => (item.heads ? Math.min(followed.head, item.heads - 1) : null);
const entryOn = (item, k, row = followed.row, h = headOf(item)) => new Entry(item, h, ...(axisOf(item) ? [k, row] : [row, k]));
const rowIn = (item, row, h) => numbersTo(widthOf(item)).map((k) => entryOn(item, k, row, h));

// ---- names ----

// A query or key, or a row or column where nothing is attended to, by its name; where it has none, by its number.
const [QUERY, KEY] = weighed ? ["query", "key"] : ["row", "column"];
const [queryNames, keyNames] = [axisOf(central), 1 - axisOf(central)].map((side) => labelsOf(central)[side]);
const queryName = (row) => (queryNames ? apart(queryNames[row]) : `${QUERY} ${row + data.base}`);
const keyName = (k) => (keyNames ? apart(keyNames[k]) : `${KEY} ${k + data.base}`);

// Where queries and keys are the same tokens, a token is compared with itself.
const isItself = (k) => keyNames !== null && queryNames === keyNames && k === followed.row;

const MOST_LISTED = 4;
const listed = (parts) => parts.flatMap((part, k) => [k === 0 ? "" : k === parts.length - 1 ? " and " : ", ", part].flat());
// Of many the first, and what is said of the others; one more than that is no more to say than how many there are.
const shortened = (parts, others = (more) => `${more} more`) => (parts.length > MOST_LISTED + 1 ? [...parts.slice(0, MOST_LISTED), others(parts.length - MOST_LISTED)] : parts);

// The entries of a row that are not 0, the largest first.
const heaviestFirst = (row) => row.filter(({ value }) => value).sort((one, other) => Math.abs(other.value) - Math.abs(one.value));

// ---- which query it is ----

const headsShown = (item) => $$(".home table", sectionOf(item)).map((table) => numberIn(table, "h"));
// The head that is followed, or the first in sight where that one is not.
const headOn = (item) => { const shown = headsShown(item); return shown.includes(followed.head) ? followed.head : shown[0] ?? null; };
function usual() {
  const chosen = data.chosen && parsed(data.chosen);
  if (chosen && chosen.item === weighed) return { row: lineIn(weighed, chosen), head: chosen.h ?? 0 };
  const head = (acts.includes(central) && headsShown(central)[0]) || 0;
  const sees = (row) => rowIn(central, row, head).filter((entry) => !isMasked(entry)).length;
  const rows = numbersTo(queriesOf(central));
  return { row: rows.findLast((row) => sees(row) > 1) ?? rows.length - 1, head };
}
const USUALLY = usual();
let followed = { ...USUALLY };
let allRows = false; // whether the other rows are filled too

function followRow(row, head = followed.head) {
  followed = { row, head };
  settle();
}

// ---- which steps it goes through ----

// Those that have a row of it, and all after the weights; not those that make the queries, keys and values, nor masks and
// constants, which the step that reads them tells of.
const isSource = (item) => links.get(item.name)?.dataset.source !== undefined;
const mixes = (product) => [product.left, product.right].some((part) => items.get(part[1]) === weighed);
const isAfter = (item) => data.items.indexOf(item) > data.items.indexOf(central);
const route = acts.filter((item) => isAfter(item) || (hasRow(item) && !isSource(item) && !weighed?.masks?.includes(item.letter) && item.sources.size > 0));
if (!route.length) route.push(...acts);
const closing = weighed && route.filter((item) => hasRow(item) && !item.gradientOf && !data.items.slice(0, data.items.indexOf(item)).some((one) => one.gradientOf)).at(-1);

// The scheme of a product, or a row that is shared out among its entries.
function schemeOf(item) {
  const product = given.has(item.letter) ? null : productOf(item.rule);
  const shares = product || given.has(item.letter) ? null : sharesOf(item.rule);
  return { product, shares: shares && axisOf(item) === (shares.byRow ? 0 : 1) ? shares : null };
}

// The frames of a step: where few keys are compared or values mixed, one entry each; the moves of a row that is shared
// out; otherwise the whole row, and of a step without a row of the query all that there is.
const MOST_SINGLY = 4;
function framesOf(item) {
  const { product, shares } = schemeOf(item);
  const opens = item === route[0] && hasRow(item) ? [{ opens: true }] : [];
  const closes = item === closing ? [{ closes: true }] : [];
  const isSingly = product && route.includes(item) && hasRow(item) && (!isAfter(item) || mixes(product)) && widthOf(item) <= MOST_SINGLY;
  const moves = shares ? (isRaised(shares) ? ["part", "sum", "share"] : ["sum", "share"]).map((phase) => ({ phase }))
    : isSingly ? rowIn(item, followed.row, headOn(item)).map((at, k) => ({ k, at })) : [{}];
  return [...opens, ...moves, ...closes];
}
