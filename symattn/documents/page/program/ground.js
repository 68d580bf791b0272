// One query among its keys, where they have two components and the scores are their products, scaled and masked: the
// ground has the colour of the key that wins there, and the query is dragged. Beside it the output among the values.

// The number itself, from what is given, whether or not the page has proven its digits yet.
const exactAt = (item, place) => (given.has(item.letter) ? numberAt(item, place) : evaluate(item.rule, entryIn(item, place), exactAt));
const exactOf = ({ item, place }) => exactAt(item, place);
const isRatio = (number) => number.d !== undefined;
const isZero = (number) => certified.order(number, 0) === 0;

// The product of queries and keys that softmax shares out: between them only a division by a positive constant and the
// mask may stand.
function comparedIn(rule) {
  const product = rule && productOf(rule);
  if (!rule || product?.rule === rule) return product;
  const [kind, ...parts] = rule;
  if (kind === "e") return given.has(rule[1]) || rule[3] !== "i" || rule[4] !== "j" ? null : comparedIn(items.get(rule[1]).rule);
  const isPositive = ([sign, value]) => sign === "c" && Array.isArray(value) && certified.order(certified.made(value[0]), 0) > 0;
  if (kind === "/" && isPositive(parts[1])) return comparedIn(parts[0]);
  const masks = (part) => part[0] === "e" && weighed.masks?.includes(part[1]);
  const isPassed = { "*": isPositive, "+": masks }[kind];
  return isPassed && parts.length === 2 && parts.some(isPassed) ? comparedIn(parts.find((part) => !isPassed(part))) : null;
}
const sharing = weighed && sharesOf(weighed.rule);
const scoring = sharing && sharing.part[0] === "x" && comparedIn(sharing.part[1]);
const factorOf = (role) => (data.flipped === (role === "query") ? scoring.right : scoring.left);
const vectorOf = (role, at) => numbersTo(scoring.size).map((c) => entryAt(factorOf(role), { h: headOf(weighed), i: at, j: at, [scoring.index]: c }));
const queryNumbers = () => vectorOf("query", followed.row).map(exactOf);
const keyNumbers = (key) => vectorOf("key", key).map(exactOf);
const MOST_DRAWN = 12;
const hasPlane = Boolean(scoring) && scoring.size === 2 && widthOf(weighed) <= MOST_DRAWN;
// Whether the query alone decides which key wins: nothing that differs from one seen key to another is added to the products.
const isPlane = () => hasPlane && (weighed.masks ?? []).every((letter) => {
  const added = seenKeys().map((key) => exactOf(sameIn(items.get(letter), weightOf(key))));
  return added.every((number) => isZero(certified.minus(number, added[0])));
});

// ---- moving the query ----

// Of what the query is made: itself, where it is given; where a given matrix that nothing else reads makes it of a given
// row, the entries of both.
function sourcesOfQuery() {
  const entries = vectorOf("query", followed.row);
  const [{ item }] = entries;
  if (given.has(item.letter)) return { entries };
  const made = productOf(item.rule);
  if (!made || made.rule !== item.rule) return null;
  const [row, matrix] = data.flipped ? [made.right, made.left] : [made.left, made.right];
  const isOwn = given.has(matrix[1]) && !data.items.some((other) => other !== item && other.sources?.has(matrix[1]));
  const lines = entries.map((entry) => numbersTo(made.size).map((l) => [row, matrix].map((part) => entryAt(part, { ...entry, [made.index]: l }))));
  const isMade = lines[0].some(([x]) => !isZero(exactOf(x))); // a row of zeros makes the same query of any matrix
  return isOwn && isMade && lines.flat(2).every((entry) => isRatio(exactOf(entry))) ? { entries, lines, letter: matrix[1] } : null;
}

const isMovable = () => isPlane() && !data.chunk && sourcesOfQuery() !== null;

// A rational number as people type it.
function typedAs({ n, d }) {
  for (let places = 0, unit = 1n; places < 9; places++, unit *= 10n) if ((n * unit) % d === 0n) return certified.fixed((n * unit) / d, places);
  return `${n}/${d}`;
}

// Makes the query these numbers, by the smallest change of what it is made of; false where that cannot be.
function aim(target) {
  const made = sourcesOfQuery();
  if (!made) return false;
  const { entries, lines } = made;
  const wanted = target.map((text) => certified.read(text));
  if (!lines) return entries.every((entry, c) => assign(entry, target[c]) === "");
  const { sum, product: times, quotient, minus } = certified;
  const length = sum(lines[0].map(([x]) => times(exactOf(x), exactOf(x))));
  return lines.every((line, c) => {
    const gap = quotient(minus(wanted[c], sum(line.map(([x, w]) => times(exactOf(x), exactOf(w))))), length);
    return line.map(([x, w]) => [w, sum([exactOf(w), times(exactOf(x), gap)])]).every(([w, number]) => assign(w, typedAs(number)) === "");
  });
}

// ---- which key wins ----

const floats = (numbers) => numbers.map(certified.nearest);
const dot = ([a, b], [c, d]) => a * c + b * d;

// The directions in which each key has the highest score, from one angle to the next: those within a right angle of its
// difference from every other key. Of equal keys the first has them.
function sectorsOf(keys) {
  const vectors = keys.map((key) => floats(keyNumbers(key)));
  return vectors.flatMap(([x, y], k) => {
    const gaps = vectors.map(([otherX, otherY]) => [x - otherX, y - otherY]);
    const angles = gaps.filter(([dx, dy]) => dx || dy).map(([dx, dy]) => Math.atan2(dy, dx));
    if (!angles.length || gaps.findIndex(([dx, dy]) => !dx && !dy) < k) return [];
    const turns = angles.map((angle) => ((angle - angles[0] + 3 * Math.PI) % (2 * Math.PI)) - Math.PI);
    const [from, to] = [Math.max(...turns) - Math.PI / 2, Math.min(...turns) + Math.PI / 2].map((turn) => angles[0] + turn);
    return to - from > 1e-12 ? [{ from, to, key: keys[k] }] : [];
  });
}

// Whether two keys are the same, and so have the same weight; another one that is.
const areSame = (key, other) => keyNumbers(other).every((x, c) => isZero(certified.minus(x, keyNumbers(key)[c])));
const twinOf = (key, keys) => keys.find((other) => other !== key && areSame(key, other));

// Whether every point is on one side of the square about another, of so much to each side: along an axis, or across a side
// of their hull. Decided exactly; false where that is not known.
function isBeside(point, points, near) {
  const { sum, product: times, minus, order, OF_ONE: { abs } } = certified;
  const along = ([a, b], [c, d]) => sum([times(a, c), times(b, d)]);
  const across = points.flatMap((one) => points.map((other) => [minus(one[1], other[1]), minus(other[0], one[0])]));
  return [[1, 0], [-1, 0], [0, 1], [0, -1], ...across].some((side) => {
    const least = minus(along(side, point), times(near, sum(side.map(abs))));
    return points.every((one) => order(along(side, one), least) < 0); // what is not known is not below
  });
}

// Whether a key lies between others, in the hull of theirs: then no query gives it a higher score than all of them, and
// its weight is never above a half. Decided exactly; false where the numbers are no ratios.
function isBetweenOthers(key, keys) {
  const [own, others] = [keyNumbers(key), keys.filter((other) => other !== key && !areSame(key, other)).map(keyNumbers)];
  return [own, ...others].flat().every(isRatio) && !isBeside(own, others, 0);
}

// What the place of the query shows, in words that hold of the numbers.
function remark() {
  const keys = seenKeys();
  if (!keys.length) return "The mask hides every key.";
  const query = floats(queryNumbers());
  const length = Math.hypot(...query);
  if (!length) return "A query of 0 asks for nothing: every key it sees has the same share.";
  const found = keys.map((key) => {
    const vector = floats(keyNumbers(key));
    const long = Math.hypot(...vector);
    return { key, long, score: dot(query, vector), along: long ? dot(query, vector) / long / length : 0 };
  });
  const best = found.reduce((one, other) => (other.score > one.score ? other : one));
  const closer = found.find((one) => one.along > best.along + 1e-9 && one.long && best.long && best.score > one.score + 1e-9);
  if (closer) return `The query points closer to ${quoted(closer.key)}, but ${quoted(best.key)} has the higher score: its key is ${best.long > closer.long ? "longer" : "shorter"}.`;
  const lost = keys.length > 2 && keys.find((key) => isBetweenOthers(key, keys));
  return lost || lost === 0 ? `${quoted(lost)} wins nowhere: its key lies between others.` : "";
}

// ---- drawing ----

const EDGE = 200; // of a picture, from its middle
const canvas = (label) => shape("svg", { viewBox: `${-EDGE} ${-EDGE} ${2 * EDGE} ${2 * EDGE}`, role: "group", "aria-label": label });

// An arrow from the middle; one that has no length is a point.
function arrow([x, y], width, kind) {
  const length = Math.hypot(x, y);
  if (length < 3) return [shape("circle", { cx: x, cy: y, r: 4, class: kind })];
  const [dx, dy] = [x / length, y / length];
  const head = Math.min(6 + width, length);
  const [bx, by] = [x - head * dx, y - head * dy];
  const side = 0.55 * head;
  return [shape("line", { x2: bx, y2: by, "stroke-width": width, class: kind }),
    shape("path", { d: `M${x} ${y}L${bx - side * dy} ${by + side * dx}L${bx + side * dy} ${by - side * dx}z`, class: kind })];
}

// The names of the two components of a vector, whose entries these are, in corners at the ends of their axes.
function axisNames([one, other]) {
  const names = labelsOf(one.item)[one.i === other.i ? 1 : 0] ?? [0, 1].map((c) => `component ${c + data.base}`);
  const [across, up] = names.map(apart);
  return [shape("text", { x: EDGE, y: EDGE - 4, "text-anchor": "end", class: "axis" }, `${across} →`), shape("text", { x: -EDGE, y: 12 - EDGE, class: "axis" }, `${up} ↑`)];
}

// The box of a text, measured once: the browser lays the page out for it.
const boxes = new Map();
function boxOf(text) {
  const look = text.outerHTML;
  if (!boxes.has(look)) boxes.set(look, text.getBBox());
  return boxes.get(look);
}

// Puts names beside their points, away from the middle first, so that none lies over another or over an arrow; one for
// which there is no room is left to the bars.
const NEAR_POINT = [10, 24, 40];
function nameAll(picture, points, lines = []) {
  const taken = $$("text", picture).map(boxOf).concat(lines.flatMap(([[ax, ay], [bx, by]]) => numbersTo(13).map((k) => ({ x: ax + ((bx - ax) * k) / 12 - 3, y: ay + ((by - ay) * k) / 12 - 3, width: 6, height: 6 }))));
  for (const { at: [x, y], words, kind, radius = 0 } of points) {
    const text = shape("text", { class: kind, "text-anchor": "middle", "paint-order": "stroke" }, words);
    picture.append(text);
    const [wide, height] = ["width", "height"].map((side) => boxOf(text)[side] + 3); // with the halo of both sides
    const outward = Math.atan2(y, x);
    const spots = NEAR_POINT.flatMap((gap) => [0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6, 3.14].map((turn) => {
      const [dx, dy] = [Math.cos(outward + turn), Math.sin(outward + turn)];
      return [x + dx * (gap + radius + wide / 2), y + dy * (gap + radius + height / 2)];
    }));
    const spot = spots.map(([cx, cy]) => ({ x: cx - wide / 2, y: cy - height / 2, width: wide, height })).find((box) =>
      Math.min(box.x, box.y) >= -EDGE && box.x + wide <= EDGE && box.y + height <= EDGE
      && taken.every((other) => box.x > other.x + other.width || other.x > box.x + wide || box.y > other.y + other.height || other.y > box.y + height));
    if (!spot) { text.remove(); continue; }
    text.setAttribute("x", spot.x + wide / 2);
    text.setAttribute("y", spot.y + 0.78 * height);
    taken.push(spot);
  }
}

const ground = canvas("The query among its keys");
const drawing = shape("g", {});
const handle = shape("circle", { r: 17, class: "tip", tabindex: 0, role: "slider" }); // which stays, and has the focus
ground.append(drawing);
let reach = 1; // how far the picture goes from the middle
const spotOf = ([x, y]) => [x, -y].map((part) => (part / reach) * 0.9 * EDGE);
const RIM = 0.97 * EDGE;

function drawGround() {
  const keys = seenKeys();
  const query = floats(queryNumbers());
  const all = everyKey().map((key) => floats(keyNumbers(key)));
  if (!held) reach = 1.25 * Math.max(...[query, ...all].map((vector) => Math.hypot(...vector)), 0.5);
  const point = (angle) => `${RIM * Math.cos(angle)} ${-RIM * Math.sin(angle)}`;
  const grounds = keys.length === 1 ? [tinted(shape("circle", { r: RIM, class: "won" }), keys[0])]
    : sectorsOf(keys).map(({ from, to, key }) => tinted(shape("path", { d: `M0 0L${point(from)}A${RIM} ${RIM} 0 ${to - from > Math.PI ? 1 : 0} 0 ${point(to)}z`, class: "won" }), key));
  const arrows = everyKey().flatMap((key) => arrow(spotOf(all[key]), 2.5 + 6 * Math.min(Math.max(weight(key) || 0, 0), 1), isHidden(key) ? "key hidden" : "key").map((part) => tinted(part, key)));
  const tip = spotOf(query);
  const [cx, cy] = tip;
  const cross = [["x1", "x2"], ["y1", "y2"]].map(([from, to]) => shape("line", { [from]: -RIM, [to]: RIM, class: "axis" }));
  drawing.replaceChildren(...grounds, ...cross, ...arrows, ...arrow(tip, 5, "query"), ...axisNames(vectorOf("key", 0)));
  const movable = isMovable();
  if (!movable) handle.remove(); else if (!handle.isConnected) ground.append(handle);
  setAll(handle, { cx, cy, "aria-label": `Query of ${queryName(followed.row)}; the arrow keys move it`,
    "aria-valuenow": query[0], "aria-valuemin": -reach, "aria-valuemax": reach, "aria-valuetext": vectorOf("query", followed.row).map(({ text }) => text).join(", ") });
  const tips = all.map(spotOf);
  nameAll(drawing, [{ at: tip, words: "query", kind: "query", radius: movable ? 17 : 0 }, ...everyKey().map((key) => ({ at: tips[key], words: keyName(key), kind: "key" }))],
    [...tips, tip].map((point) => [[0, 0], point]).concat(movable ? [[[cx - 14, cy], [cx + 14, cy]], [[cx, cy - 14], [cx, cy + 14]]] : []));
  $(".lead", ground.parentElement).replaceChildren(...(movable ? [make("span", "Drag the query. ", { class: "hint" })] : []), "The ground has the colour of the key that wins: the highest score.");
  remarks.textContent = supposed ? "" : remark();
}
const remarks = make("p", "", { class: "remark" });

// A grid that is fine enough to move on, in decimals.
const places = () => Math.max(0, 1 - Math.floor(Math.log10(reach)));
const onGrid = (x) => Number(x.toFixed(places())).toFixed(places()).replace(/^-(0(?:\.0*)?)$/, "$1");

function moveTo([x, y], holding) {
  const within = [x, y].map((part) => onGrid(Math.min(Math.max(part, -reach), reach)));
  if (!aim(within)) return;
  if (holding) recompute(true); else changed("");
}

let dragging = false;
ground.addEventListener("pointerdown", (event) => {
  if (!(event.target.matches(".tip") || (event.pointerType === "mouse" && $(".tip", ground))) || event.button) return;
  ground.setPointerCapture(event.pointerId);
  dragging = true;
  track(event);
  event.preventDefault();
});
function track(event) {
  const { left, top, width: wide } = ground.getBoundingClientRect();
  const [x, y] = [event.clientX - left, event.clientY - top].map((part) => ((2 * part) / wide - 1) / 0.9 * reach);
  moveTo([x, -y], true);
}
ground.addEventListener("pointermove", (event) => { if (dragging) track(event); });
ground.addEventListener("touchstart", (event) => { if (event.target.matches(".tip")) event.preventDefault(); }, { passive: false }); // no scrolling
whenLetGo(ground, () => {
  if (!dragging) return;
  dragging = false;
  changed("");
});
const BY = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
ground.addEventListener("keydown", (event) => {
  const by = BY[event.key];
  if (!by) return;
  const unit = 10 ** -places();
  moveTo(floats(queryNumbers()).map((part, c) => part + unit * by[c]), false);
  event.preventDefault();
  event.stopPropagation();
});

// ---- the output among the values ----

const mixed = weighed && data.items.find(({ rule }) => { const made = rule && productOf(rule); return made && made.rule === rule && mixes(made); });
const output = () => rowIn(mixed);
function valueVector(key) {
  const { left, right, index } = productOf(mixed.rule);
  const values = left[1] === weighed.letter ? right : left;
  return output().map((entry) => exactOf(entryAt(values, { ...entry, [index]: key })));
}
const outputText = () => `(${output().map(({ text }) => text).join(", ")})`;
const values = canvas("The output among the values");
const mixture = make("p", "", { class: "remark" });
const isMixedInPlane = Boolean(mixed) && widthOf(mixed) === 2 && widthOf(weighed) <= MOST_DRAWN;

// The corners of the hull of some points, in order.
function hullOf(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => list.reduce((line, p) => {
    const isRight = ([a, b]) => (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) <= 0;
    while (line.length > 1 && isRight(line.slice(-2))) line.pop();
    line.push(p);
    return line;
  }, []);
  return [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
}

function drawValues() {
  const points = everyKey().map((key) => floats(valueVector(key)));
  const mean = output().map(({ value }) => value);
  const isPlace = (p) => p.every(Number.isFinite); // a mistake may leave some without a value
  const whole = [...points, mean].filter(isPlace);
  const [every, seen] = [everyKey(), isPlace(mean) ? seenKeys() : []].map((keys) => keys.filter((key) => isPlace(points[key])));
  const [low, high] = [Math.min, Math.max].map((most) => [0, 1].map((c) => most(...whole.map((p) => p[c]))));
  const span = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
  const place = (p) => [0, 1].map((c) => ((c ? -1 : 1) * (p[c] - (low[c] + high[c]) / 2) / span) * 1.44 * EDGE);
  const o = place(mean);
  const outline = hullOf(seen.map((key) => points[key])).map((p) => place(p).join(" "));
  values.replaceChildren(
    ...(areShares() && outline.length ? [shape("path", { d: `M${outline.join("L")}z`, class: "hull" })] : []),
    ...seen.map((key) => { const [x, y] = place(points[key]); return shape("line", { x1: o[0], y1: o[1], x2: x, y2: y, "stroke-width": 1 + 11 * Math.min(Math.abs(weight(key)) || 0, 1), class: "pull" }); }),
    ...every.map((key) => { const [cx, cy] = place(points[key]); return shape("circle", { cx, cy, r: 7, class: isHidden(key) ? "value hidden" : "value" }); }),
    ...(isPlace(mean) ? [shape("circle", { cx: o[0], cy: o[1], r: 9, class: "output" })] : []),
    ...axisNames(output()));
  nameAll(values, every.map((key) => ({ at: place(points[key]), words: keyName(key), kind: "value" })), seen.map((key) => [o, place(points[key])]));
}

if (hasPlane) front.prepend(panel("Ask and compare", "", ground, remarks));
if (isMixedInPlane) front.append(panel("Mix", "", values, mixture));
function tellPictures() {
  if (staged()) return; // out of sight
  if (hasPlane && !ground.parentElement.toggleAttribute("hidden", !isPlane())) drawGround();
  if (isMixedInPlane) {
    drawValues();
    $(".lead", values.parentElement).textContent = areShares() ? "Each value pulls the output by its share: it never leaves the shape between them." : "The output is the sum of the values, each times its weight.";
    mixture.textContent = `The output is ${outputText()}.`;
  }
}
nowAndSettled(tellPictures);
