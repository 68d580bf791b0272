// What a frame shows and why, in a sentence: of the step on the stage, in its numbers, of the query that is followed.

const MOST_LISTED = 4;
const listed = (parts) => parts.flatMap((part, k) => [k === 0 ? "" : k === parts.length - 1 ? " and " : ", ", part].flat());
const shownAt = (item, h, place) => pretty(textAt(item, placeOf(item, h, place.i, place.j)));
const vector = (numbers) => (numbers.length > 1 && numbers.length <= MOST_LISTED ? ` (${numbers.join(", ")})` : numbers.length === 1 ? ` ${numbers[0]}` : "");

// A token by its name; where it has none, a query or key by its number, which may begin a sentence.
function tokenOf(side, k, kind, isFirst = false) {
  const names = labelsOf(central)[side];
  const called = isFirst ? kind[0].toUpperCase() + kind.slice(1) : kind;
  return names ? make("bdi", names[k], { class: "token" }) : `${called} ${k + data.base}`;
}
const query = (isFirst, row = followed.row) => tokenOf(axisOf(central), row, "query", isFirst);
const keyOn = (k) => tokenOf(1 - axisOf(central), k, "key");

// Numbers in a list; of many the first, and how many more there are.
function several(numbers) {
  const more = numbers.length > MOST_LISTED + 1 ? numbers.length - MOST_LISTED : 0;
  return listed(more ? [...numbers.slice(0, MOST_LISTED), `${more} more`] : numbers);
}

const rowAt = (item, h, line = followed.row) => numbersTo(widthOf(item)).map((k) => placeAlong(line, k, item));
const rowShown = (item, h) => rowAt(item, h).map((place) => shownAt(item, h, place));

// What the sheet says of a step, to begin a sentence with.
const reasonOf = (item) => { const why = $(".why", sectionOf(item)); return why ? [...why.cloneNode(true).childNodes, " "] : []; };

// What each key has, the largest first where there are many.
function shared(texts, places, value) {
  const order = places.map((_, k) => k);
  if (order.length > MOST_LISTED) order.sort((a, b) => value(places[b]) - value(places[a]));
  const kept = order.slice(0, MOST_LISTED).map((k) => [texts[k], " for ", keyOn(k)]);
  return listed(order.length > MOST_LISTED ? [...kept, `${order.length - MOST_LISTED} more`] : kept);
}

const ROLE_WORDS = { q: "query", k: "key", v: "value" };

// An entry of a product: a component of an output, where values are mixed, or else a score.
function productTold({ at, k }) {
  const { item, h, product } = scene;
  const factors = axisOf(item) ? [product.right, product.left] : [product.left, product.right];
  const [own, other] = factors.map((part) => numbersTo(product.size).map((n) => entryAt(part, { ...at, h, [product.index]: n })));
  const [ownNumbers, otherNumbers] = [own, other].map((entries) => entries.map((one) => shownAt(one.item, one.h, one)));
  const [ownRole, otherRole] = [own, other].map(([one]) => ROLE_WORDS[one.item.role] ?? "vector");
  const result = shownAt(item, h, at);
  const isPlain = product.rule === item.rule && !isWarm(item);
  if (mixes(product) && isPlain) {
    const what = otherRole === "value" ? "values" : "vectors";
    const these = product.size <= MOST_LISTED ? [" have ", ...several(otherNumbers), ` as component ${k + data.base}; weighted by `, ...several(ownNumbers), " they add up to "]
      : [` are added component by component, each times its weight: together they have `];
    return [`The ${what}`, ...these, result, `, component ${k + data.base} of the output of `, query(), "."];
  }
  if (!isAfter(item) && widthOf(item) === widthOf(central) && isPlain) {
    return [query(true), " is compared with ", item.labels[0] !== null && item.labels[0] === item.labels[1] && k === followed.row ? "itself" : keyOn(k), `: the dot product of its ${ownRole}${vector(ownNumbers)} and the ${otherRole}${vector(otherNumbers)} is `, result, "."];
  }
  return [...reasonOf(item), `Component ${k + data.base} of `, query(), " is ", result, "."];
}

// A mask of 0 and −∞ and what it does to the scores of the row; null where the step does something else.
function maskTold() {
  const { item, h } = scene;
  const mask = items.get([...entriesIn(item.rule)].map((entry) => entry[1]).find((letter) => weighed?.masks?.includes(letter) && items.get(letter) !== item));
  if (!mask || item === weighed) return null;
  const places = rowAt(item, h);
  const values = places.map(({ i, j }) => valueAt(mask, placeOf(mask, mask.heads ? h : null, i, j)));
  if (values.some((value) => value !== 0 && value !== -Infinity)) return null;
  const split = (holds) => numbersTo(places.length).filter((k) => (values[k] === 0) === holds);
  const [seen, hidden] = [split(true), split(false)];
  const numbers = (some) => several(some.map((k) => shownAt(item, h, places[k])));
  const why = acts.includes(mask) ? reasonOf(mask) : [];
  if (!hidden.length) return [...why, "The mask hides no key from ", query(), ": its scores stay ", ...numbers(seen), "."];
  const whom = seen.length === 0 ? ["every key"] : hidden.length > MOST_LISTED ? [`${hidden.length} keys`] : listed(hidden.map(keyOn));
  const becomes = [hidden.length > 1 ? "these scores become " : "this score becomes ", shownAt(item, h, places[hidden[0]]), hidden.length > 1 ? ", so that their weights will be 0" : ", so that its weight will be 0"];
  const stay = seen.length ? [seen.length > 1 ? "; the others stay " : "; the other stays ", ...numbers(seen)] : [];
  return [...why, "The mask hides ", ...whom, " from ", query(), ": ", ...becomes, ...stay, "."];
}

// The moves of a row that is shared out.
function moveTold({ phase }) {
  const { item, h, shares } = scene;
  const places = rowAt(item, h);
  const value = ({ i, j }) => valueAt(item, placeOf(item, h, i, j));
  const parts = isRaised(shares) ? "exponentials" : "scores";
  const isPlain = shares.whole[0] === "s";
  if (phase === "part") {
    const texts = places.map((place) => pretty(printer(scene.least[1]).part(shares.part, { ...place, h })));
    return ["The scores of ", query(), " become exponentials, which are never negative and can be shares of a whole: ", ...shared(texts, places, value), "."];
  }
  if (sharesNothing(item.rule, { ...places[0], h })) return [query(true), " may attend to no key: its weights are 0, by convention."];
  if (phase === "sum") {
    const sum = pretty(shownAs(numberOfMove(shares, "sum", { ...places[0], h })).text);
    return [`The ${parts} of `, query(), isPlain ? " add up to " : ", with a further term, add up to ", sum, ": each is divided by this sum."];
  }
  const texts = places.map((place) => shownAt(item, h, place));
  return [query(true), " shares its attention out: ", ...shared(texts, places, value), `. These weights add up to ${isPlain ? "1" : "less than 1"}.`];
}

// Scores that are divided by one number.
function scaledTold() {
  const { item, h } = scene;
  const [kind, above, below] = ruleOf(item);
  if (item.name !== "scaled" || kind !== "/" || above[0] !== "e") return null;
  const divisor = makeOf("span", `<math>${spell(below, { ...placeAlong(followed.row, 0, item), h }).markup}</math>`);
  return ["Dividing by ", divisor, " keeps the scores from growing with the length of the vectors: those of ", query(), " become ", ...several(rowShown(item, h)), "."];
}

function sentenceOf(frame) {
  const { item, h } = scene;
  if (frame.closes) return [];
  if (frame.opens) return ["We follow ", query(), ...(scene.shown.length > 1 ? [` in head ${h + data.base}`] : []), ": it is compared with every key, and the better a key matches, the more of its value goes into the output."];
  if (frame.at) return productTold(frame);
  if (frame.phase) return moveTold(frame);
  const told = hasRow(item) ? maskTold() ?? scaledTold() : null;
  if (told) return told;
  return [...reasonOf(item), ...(hasRow(item) ? ["For ", query(), ": ", ...several(rowShown(item, h)), "."] : [])];
}

// ---- the end ----

// The keys with the largest weight of a query, and this weight; none where all are 0.
function heaviest(row, h) {
  const places = rowAt(weighed, h, row);
  const value = ({ i, j }) => valueAt(weighed, placeOf(weighed, h, i, j));
  const most = Math.max(...places.map(value));
  const keys = numbersTo(places.length).filter((k) => value(places[k]) === most);
  return most > 0 ? { keys: keys.length > MOST_LISTED ? [`${keys.length} keys`] : listed(keys.map(keyOn)), weight: shownAt(weighed, h, places[keys[0]]), isShared: keys.length > 1 } : null;
}

function looksTold(row, h, isFirst) {
  const found = heaviest(row, h);
  if (!found) return [query(isFirst, row), " attends to no key"];
  return [query(isFirst, row), " attends most to ", ...found.keys, " (", found.weight, found.isShared ? " each)" : ")"];
}

// What was seen, in three sentences, and a link that opens the page here.
function seenCard() {
  const h = weighed.heads ? (headsShown(weighed).includes(followed.head) ? followed.head : headsShown(weighed)[0]) : null;
  const inHead = h === null ? [] : [` in head ${h + data.base}`];
  const mixed = data.items.find((item) => isAfter(item) && hasRow(item) && item.rule && [...entriesIn(item.rule)].some((entry) => entry[1] === weighed.letter));
  const [last, others] = [scene.item, numbersTo(queriesOf(weighed)).filter((row) => row !== followed.row)];
  const weights = rowAt(weighed, h).map((place, k) => ({ k, text: shownAt(weighed, h, place), value: valueAt(weighed, placeOf(weighed, h, place.i, place.j)) }));
  const parts = weights.filter(({ value }) => value).sort((a, b) => b.value - a.value);
  const kept = parts.slice(0, MOST_LISTED).map(({ k, text }) => [text, " of the value of ", keyOn(k)]);
  if (parts.length > MOST_LISTED) kept.push([`smaller shares of ${parts.length - MOST_LISTED} more`]);
  const numbers = rowShown(mixed ?? last, mixed?.heads ? h : null);
  const told = [[...looksTold(followed.row, h, true), ...inHead, "."]];
  if (mixed) told.push(["Its output", vector(numbers), inHead.length ? " there" : "", " is ", ...(kept.length ? listed(kept) : ["0"]), "."]);
  if (others.length) {
    const some = others.slice(0, MOST_LISTED).map((row) => looksTold(row, h));
    if (others.length > MOST_LISTED) some.push([`${others.length - MOST_LISTED} more likewise`]);
    told.push(["Every other row does the same on its own: ", ...listed(some), "."]);
  }
  const button = make("button", "Copy a link to this", { type: "button", id: "copy-state" });
  button.addEventListener("click", copyLink);
  return make("div", [...told.map((words) => make("p", words)), button], { class: "seen" });
}
