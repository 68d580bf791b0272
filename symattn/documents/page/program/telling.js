// What a frame shows and why, in a sentence: of the step on the stage, in its numbers, of the query that is followed.

const vector = (numbers) => (numbers.length > 1 && numbers.length <= MOST_LISTED ? ` (${numbers.join(", ")})` : numbers.length === 1 ? ` ${numbers[0]}` : "");

// A token by its name; where it has none, a query or key by its number, which may begin a sentence.
const token = (names, k, called) => (names ? make("bdi", names[k], { class: "token" }) : called);
const query = (isFirst, row = followed.row) => token(queryNames, row, isFirst ? queryName(row).replace(/^[qr]/, (letter) => letter.toUpperCase()) : queryName(row));
const keyOn = (k) => token(keyNames, k, keyName(k));

const several = (numbers) => listed(shortened(numbers));
const textsOf = (entries) => entries.map(({ text }) => text);

// What the sheet says of a step, to begin a sentence with.
const reasonOf = (item) => { const why = $(".why", sectionOf(item)); return why ? [...why.cloneNode(true).childNodes, " "] : []; };

// What each key has, the largest first where there are many.
function shared(row, textOf = ({ text }) => text) {
  const order = row.length > MOST_LISTED + 1 ? [...row].sort((one, other) => other.value - one.value) : row;
  return listed(shortened(order.map((entry) => [textOf(entry), " for ", keyOn(keyIn(entry.item, entry))])));
}

const ROLE_WORDS = { q: "query", k: "key", v: "value" };

// An entry of a product: a component of an output, where values are mixed, or else a score.
function productTold({ at, k }) {
  const { item, product } = scene;
  const factors = axisOf(item) ? [product.right, product.left] : [product.left, product.right];
  const [own, other] = factors.map((part) => numbersTo(product.size).map((n) => entryAt(part, { ...at, [product.index]: n })));
  const [ownNumbers, otherNumbers] = [own, other].map((entries) => entries.map(textPutIn)); // as in the line
  const [ownRole, otherRole] = [own, other].map(([one]) => ROLE_WORDS[one.item.role] ?? "vector");
  const result = at.text;
  const isPlain = product.rule === item.rule && !isWarm(item);
  if (mixes(product) && isPlain) {
    const what = otherRole === "value" ? "values" : "vectors";
    const these = product.size <= MOST_LISTED ? [" have ", ...several(otherNumbers), ` as component ${k + data.base}; weighted by `, ...several(ownNumbers), " they add up to "]
      : [` are added component by component, each times its weight: together they have `];
    return [`The ${what}`, ...these, result, `, component ${k + data.base} of the output of `, query(), "."];
  }
  if (weighed && !isAfter(item) && widthOf(item) === widthOf(central)) {
    if (!isPlain) return [...reasonOf(item), "The score of ", keyOn(k), " for ", query(), " is ", result, "."];
    return [query(true), " is compared with ", isItself(k) ? "itself" : keyOn(k), `: the dot product of its ${ownRole}${vector(ownNumbers)} and the ${otherRole}${vector(otherNumbers)} is `, result, "."];
  }
  return [...reasonOf(item), `Component ${k + data.base} of `, query(), " is ", result, "."];
}

// A mask of 0 and −∞ and what it does to the scores of the row; null where the step does something else.
function maskTold() {
  const { item } = scene;
  const mask = items.get([...item.sources].find((letter) => weighed?.masks?.includes(letter) && letter !== item.letter));
  if (!mask || item === weighed) return null;
  const row = rowOnStage();
  const valueOfMask = (entry) => sameIn(mask, entry).value;
  if (row.some((entry) => ![0, -Infinity].includes(valueOfMask(entry)))) return null;
  const [seen, hidden] = [0, -Infinity].map((value) => row.filter((entry) => valueOfMask(entry) === value));
  const why = acts.includes(mask) ? reasonOf(mask) : [];
  if (!hidden.length) return [...why, "The mask hides no key from ", query(), ": its scores stay ", ...several(textsOf(seen)), "."];
  const whom = seen.length === 0 ? ["every key"] : hidden.length > MOST_LISTED ? [`${hidden.length} keys`] : listed(hidden.map((entry) => keyOn(keyIn(item, entry))));
  const [become, weights] = hidden.length > 1 ? ["these scores become", "their weights"] : ["this score becomes", "its weight"];
  const stay = seen.length ? [seen.length > 1 ? "; the others stay " : "; the other stays ", ...several(textsOf(seen))] : [];
  return [...why, "The mask hides ", ...whom, " from ", query(), `: ${become} `, hidden[0].text, `, so that ${weights} will be 0`, ...stay, "."];
}

// The moves of a row that is shared out.
function moveTold({ phase }) {
  const { item, shares } = scene;
  const row = rowOnStage();
  const scores = weighed ? "scores" : "numbers";
  const parts = isRaised(shares) ? "exponentials" : scores;
  const isPlain = shares.whole[0] === "s";
  if (phase === "part") {
    const textOf = (entry) => pretty(printer(scene.least[1]).part(shares.part, entry));
    return [`The ${scores} of `, query(), " become exponentials, which are never negative and can be shares of a whole: ", ...shared(row, textOf), "."];
  }
  if (sharesNothing(item.rule, row[0])) return [query(true), " may attend to no key: its weights are 0, by convention."];
  if (phase === "sum") {
    const sum = pretty(shownAs(numberOfMove(shares, "sum", row[0])).text);
    return [`The ${parts} of `, query(), isPlain ? " add up to " : ", with a further term, add up to ", sum, ": each is divided by this sum."];
  }
  return [...(weighed ? [query(true), " shares its attention out: "] : ["The shares of ", query(), " are "]), ...shared(row), `. ${weighed ? "These weights" : "They"} add up to ${isPlain ? "1" : "less than 1"}.`];
}

// Scores that are divided by one number.
function scaledTold() {
  const { item } = scene;
  const [kind, above, below] = ruleOf(item);
  if (item.name !== "scaled" || kind !== "/" || above[0] !== "e") return null;
  const row = rowOnStage();
  const divisor = makeOf("span", `<math>${spell(below, row[0]).markup}</math>`);
  const why = isWarm(item) ? [] : [" keeps the scores from growing with the number of components"];
  return ["Dividing by ", divisor, ...why, ": those of ", query(), " become ", ...several(textsOf(row)), "."];
}

function sentenceOf(frame) {
  const { item, h } = scene;
  if (frame.closes) return [];
  if (frame.opens && !weighed) return ["We follow ", query(), " step by step."];
  if (frame.opens) return ["We follow ", query(), ...(scene.shown.length > 1 ? [` in head ${h + data.base}`] : []), ": it is compared with every key, and the better a key matches, the more of its value goes into the output."];
  if (frame.at) return productTold(frame);
  if (frame.phase) return moveTold(frame);
  if (!hasRow(item)) return reasonOf(item).length > 1 ? reasonOf(item) : ["The formula gives every entry."];
  return maskTold() ?? scaledTold() ?? [...reasonOf(item), "For ", query(), ": ", ...several(textsOf(rowOnStage())), "."];
}

// ---- the end ----

// The keys with the largest weight of a query; none where all are 0.
function looksTold(row, h, isFirst) {
  const order = heaviestFirst(rowIn(weighed, row, h)).filter(({ value }) => value > 0);
  const most = order.filter(({ value }) => value === order[0].value);
  if (!most.length) return [query(isFirst, row), " attends to no key"];
  const keys = most.length > MOST_LISTED ? [`${most.length} keys`] : listed(most.map((entry) => keyOn(keyIn(weighed, entry))));
  return [query(isFirst, row), most.length > 1 && most.length === order.length ? " attends equally to " : " attends most to ", ...keys, ` (${most[0].text}${most.length > 1 ? " each" : ""})`];
}

// What was seen, in three sentences, and a link that opens the page here.
function seenCard() {
  const h = headOn(weighed);
  const inHead = h === null ? "" : ` in head ${h + data.base}`;
  const told = [[...looksTold(followed.row, h, true), inHead, "."]];
  if (mixed && rowIn(weighed, followed.row, h).every(({ value }) => !Number.isNaN(value))) {
    const parts = heaviestFirst(rowIn(weighed, followed.row, h)).map((entry) => [entry.text, " of the value of ", keyOn(keyIn(weighed, entry))]);
    const numbers = textsOf(rowIn(mixed, followed.row, mixed.heads ? h : null));
    told.push(["Its output", vector(numbers), inHead && " there", " is ", ...(parts.length ? listed(shortened(parts, (more) => `smaller shares of ${more} more`)) : ["0"]), "."]);
  }
  const last = closing === mixed ? "" : vector(textsOf(rowIn(closing, followed.row, closing.heads ? h : null)));
  if (last) told.push([weighed.heads > 1 ? "All heads together make" : "This makes", " its row of ", makeOf("span", `<math>${symbolIn(closing).outerHTML}</math>`), `${last}.`]);
  const others = numbersTo(queriesOf(weighed)).filter((row) => row !== followed.row);
  if (others.length) {
    const some = others.slice(0, MOST_LISTED + 2).map((row) => looksTold(row, h)); // no more than these are told
    told.push(["Every other row does the same on its own: ", ...listed(shortened(some, () => `${others.length - MOST_LISTED} more likewise`)), "."]);
  }
  const button = make("button", "Copy a link to this", { type: "button", id: "copy-state" });
  button.addEventListener("click", copyLink);
  return make("div", [...told.map((words) => make("p", words)), button], { class: "seen" });
}

// A sentence with its formulas as they are said, without the controls in it.
function spoken(element) {
  const copy = element.cloneNode(true);
  for (const control of $$("button", copy)) control.remove();
  for (const [place, sign] of [["msqrt", "√"], ["msup > :last-child", "^"], ["mfrac > :last-child", "/"], ["p", " "]]) for (const one of $$(place, copy)) one.prepend(sign);
  return copy.textContent;
}
