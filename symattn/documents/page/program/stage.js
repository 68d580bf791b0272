// The stage: one step at a time, of the query that is followed. A product stands in Falk's scheme, a row that is shared
// out goes through its moves, and of every other step the row is filled at once. What is on it comes from the rules and
// the digits of the sheet.

let scene = null; // what stands on the stage: step, head, picture, frames, and which frame

const staged = () => scene !== null;
const isStill = () => calm() === "auto";
const isGap = (k) => k === null;

// As many of them as the sheet shows, and one that has to be there; null for a gap.
function shownOf(size, at = 0) {
  const most = data.limit;
  if (!most || size <= most) return numbersTo(size);
  if (at < most - 2 || at === size - 1) return [...numbersTo(Math.max(most - 2, 1)), null, size - 1];
  return [...numbersTo(Math.max(most - 4, 1)), null, at, ...(at < size - 2 ? [null] : []), size - 1];
}

const indicesShown = (size) => shownOf(size).filter((k) => k !== null);

// The rows and the columns of a matrix in sight, among them the row of the query.
const inSightOf = (item) => item.shape.map((size, side) => shownOf(size, axes.get(item.letter) === side ? followed.row : 0));

// As many of these as there is room for, among them the one that is worked out, with gaps for the others.
function partOf(list, most, at) {
  if (list.length <= most) return list;
  const start = Math.min(Math.floor(Math.max(list.indexOf(at), 0) / most) * most, list.length - most);
  const part = list.slice(start, start + most);
  const gap = (isLeft, neighbour) => (isLeft && neighbour !== null ? [null] : []);
  return [...gap(start > 0, part[0]), ...part, ...gap(start + most < list.length, part[most - 1])];
}

// ---- colours ----

// A colour for each matrix of a step: its own, or a spare one where it has none or another has it already.
function huesOf(item, letters) {
  const hues = new Map();
  const free = ["x", "y"];
  for (const letter of letters) {
    const own = items.get(letter).role;
    hues.set(letter, own && ![...hues.values()].includes(own) ? own : free.shift() ?? "x");
  }
  if (!hues.has(item.letter)) hues.set(item.letter, item.role ?? "");
  return hues;
}

// What tells a letter in a formula: its base and what is below it, whatever its head or power; of a gradient dQ both
// letters; null where it is more than a letter.
function letterIn(element) {
  const [base, low] = element.children;
  switch (element.tagName) {
    case "mi": return `${element.textContent}|`;
    case "msup": return letterIn(base);
    case "msub": case "msubsup": return `${base.textContent}|${low.textContent}`;
    case "mrow": return element.children.length === 2 && base.textContent === "d" && letterIn(low) ? `d${letterIn(low)}` : null;
    default: return null;
  }
}

const symbolIn = (item, h = null) => {
  const where = h === null ? "" : `[data-h="${h}"]`;
  return $(`.home table[data-m="${CSS.escape(item.letter)}"]${where}`)?.closest("figure").querySelector("figcaption math > *");
};
const LETTERS = new Map(data.items.map((item) => { const symbol = symbolIn(item); return [symbol && letterIn(symbol), item.letter]; }));

function colourLetters(element, hues) {
  const letter = LETTERS.get(letterIn(element) ?? "");
  if (hues.get(letter)) element.classList.add(`in-${hues.get(letter)}`);
  else if (!/^msub/.test(element.tagName)) for (const child of element.children) colourLetters(child, hues);
}

// ---- the picture ----

function textOnSheet(entry) {
  const cell = cells.get(entry.key)?.[0];
  return live || !cell ? entry.text : shipped.get(cell);
}

// An operand has the decimals that the worked lines of the step put in.
function textPutIn(entry) {
  const text = textOnSheet(entry);
  return scene.least[0] && text === entry.text && !entry.isExact ? pretty(printer(scene.least[0]).text(entry.item, entry.place)) : text;
}

function captionOf(item, h, turned = false) {
  const symbol = symbolIn(item, h);
  const drawn = symbol?.outerHTML ?? `<mi>${item.letter}</mi>`;
  const caption = makeOf("span", `<math>${turned ? data.transposed.replace("<mn>△</mn>", () => drawn) : drawn}</math>`, { class: "caption" });
  if (scene.hues.get(item.letter)) caption.classList.add(`in-${scene.hues.get(item.letter)}`);
  if (item.name !== item.letter) caption.append(make("span", item.name.replaceAll("_", " "), { class: "name" }));
  const named = symbol?.closest("figcaption").querySelector(".axes");
  if (named && !turned) caption.append(named.cloneNode(true));
  return caption;
}

const tableRow = (...parts) => make("tr", parts);
const blankCell = (span = 1, content = "") => make("td", content, { class: "blank", colspan: span, rowspan: 1 });
const gapCell = (dots) => make("td", dots, { class: "gap" });

// The row of names of columns, with `corner` before them; a row i of cells behind its name, of which `cell` makes each.
const headRow = (columns, across, ...corner) => across && tableRow(...corner, ...columns.map((j) => headCell(isGap(j) ? "⋯" : across[j], "col")));
const cellsIn = (i, columns, cell) => columns.map((j) => (isGap(i) || isGap(j) ? gapCell(i === j ? "⋱" : isGap(i) ? "⋮" : "⋯") : cell(i, j)));
const namedRow = (i, down, ...cells) => tableRow(down && headCell(isGap(i) ? "⋮" : down[i], "row"), ...cells);

// A cell of an entry. `data-c` is there for `level`, and gone when the picture stands.
function cellOf(entry, column, classes = "") {
  const isResult = classes === "result";
  const kinds = `entry of-${scene.hues.get(entry.item.letter) || "none"} ${classes}${isMasked(entry) ? " masked" : ""}`;
  const cell = make("td", isResult ? textOnSheet(entry) : textPutIn(entry), { "data-c": column, class: kinds });
  if (isResult && scene.shares) setBar(cell, entry.value);
  return Object.assign(cell, { key: entry.key, entry, what: "share" });
}

// Every decimal as wide as its column wants it; what is not computed yet keeps its place.
function levelled(table) {
  level(table);
  for (const cell of $$("td[data-c]", table)) {
    delete cell.dataset.c;
    cell.full = [cell.textContent, cell.dataset.f ?? ""];
    if (cell.classList.contains("result")) fillCell(cell, false);
  }
  return table;
}

// One matrix with its name: an operand, or, where it is the `result`, the one that is computed.
function matrixOf(item, h, isResult = false) {
  const [rows, columns] = inSightOf(item);
  const [down, across] = labelsOf(item);
  const cell = (i, j) => cellOf(new Entry(item, h, i, j), j, isResult ? "result" : "");
  const body = rows.map((i) => namedRow(i, down, ...cellsIn(i, columns, cell)));
  return framed(captionOf(item, h), tableOf(headRow(columns, across, down && blankCell()), body), item.alone);
}

const tableOf = (head, body) => levelled(make("table", [make("thead", head), make("tbody", body)]));
const scrolling = (table) => make("div", table, { class: "scroll" });
const framed = (caption, table, isAlone = false) => make("figure", [caption, scrolling(table)], isAlone ? { class: "alone" } : {});

// Falk's scheme: the left factor at the left, the right one above, and each entry where its row and column meet.
function falkOf(item, h, { left, right, index, size }) {
  const { room, worked } = scene;
  const [rows, every] = inSightOf(item);
  const [columns, inner] = [partOf(every, room.columns, worked.j), partOf(shownOf(size), room.inner, 0)];
  scene.inSight = { columns, inner };
  const factor = (part, i, j, k) => entryAt(part, { h, i, j, [index]: k });
  const [one, other] = [factor(left, 0, 0, 0), factor(right, 0, 0, 0)];
  const [turnedLeft, turnedRight] = [left[4] === "i", right[3] === "j"];
  const [down] = labelsOf(item);
  const [shared] = turnedLeft ? labelsOf(one.item) : labelsOf(one.item).reverse();
  const [beside, across] = turnedRight ? labelsOf(other.item).reverse() : labelsOf(other.item);
  const corner = () => down && blankCell();
  const lead = () => blankCell((down ? 1 : 0) + inner.length);
  const name = (names, k, scope) => (names && !isGap(k) ? headCell(names[k], scope) : blankCell());
  const between = tableRow(corner(), ...inner.map((k) => name(shared, k, "col")), blankCell(1 + columns.length));
  between.className = "between";
  const body = [
    tableRow(lead(), blankCell(), blankCell(columns.length, captionOf(other.item, other.h, turnedRight))),
    headRow(columns, across, lead(), blankCell()),
    ...inner.map((k) => tableRow(lead(), name(beside, k, "row"), ...cellsIn(k, columns, (_, j) => cellOf(factor(right, 0, j, k), `b${j}`)))),
    between,
    ...rows.map((i) => namedRow(i, down, ...cellsIn(i, inner, (_, k) => cellOf(factor(left, i, 0, k), `a${k}`)), blankCell(),
      ...cellsIn(i, columns, (_, j) => cellOf(new Entry(item, h, i, j), `b${j}`, "result")))),
    tableRow(corner(), blankCell(inner.length, captionOf(one.item, one.h, turnedLeft)), blankCell(), blankCell(columns.length, captionOf(item, h))),
  ];
  return [scrolling(levelled(make("table", make("tbody", body), { class: "scheme" })))];
}

// The matrices that the entries in sight read, each head its own, and the one that is computed.
function operandsOf(item, h) {
  const found = new Map();
  const [rows, columns] = inSightOf(item);
  for (const i of rows)
    for (const j of columns)
      if (i !== null && j !== null) for (const entry of reads(item.rule, { i, j, h })) found.set(`${entry.item.letter}|${entry.h ?? ""}`, entry);
  return [...found.values()].filter((entry) => entry.item !== item || entry.h !== h);
}

function sideBySide(item, h) {
  const operands = operandsOf(item, h).map((entry) => matrixOf(entry.item, entry.h));
  const arrow = operands.length > 0 && make("span", "→", { class: "makes", "aria-hidden": "true" });
  return [...operands, make("div", [arrow, matrixOf(item, h, true)], { class: "result-on-stage" })];
}

// What each entry of a row puts in, and their sum, in the digits that the worked line prints.
function movesOf(item, h, shares) {
  const raised = isRaised(shares);
  const [rows, columns] = inSightOf(item);
  const [down, across] = labelsOf(item);
  const cell = (what) => (i, j) => {
    const entry = new Entry(item, h, i, j);
    const number = numberOfMove(shares, what, entry);
    const text = what === "part" ? printer(scene.least[1]).part(shares.part, entry) : shownAs(number).text;
    const made = make("td", pretty(text), { class: `entry result ${what}`, "data-c": what === "sum" ? "sum" : j });
    if (what === "part") {
      const parts = rowIn(item, lineIn(item, entry), h).map((one) => numberOfMove(shares, "part", one));
      setBar(made, certified.nearest(certified.quotient(number, certified.largest(parts))));
    }
    return Object.assign(made, { what, spot: `${what}|${i}|${j}`, entry });
  };
  const named = !raised ? [] : across ? [...headRow(columns, across).children] : [blankCell(columns.length)];
  const head = tableRow(down && blankCell(), ...named, shares.byRow && headCell("sum", "col"));
  const body = rows.map((i) => namedRow(i, down, ...(raised ? cellsIn(i, columns, cell("part")) : []), ...(shares.byRow ? cellsIn(i, [0], cell("sum")) : [])));
  if (!shares.byRow) body.push(tableRow(down && headCell("sum", "row"), ...cellsIn(0, columns, cell("sum"))));
  const caption = make("span", raised ? "exponentials and their sums" : "sums", { class: "caption" });
  return [...operandsOf(item, h).map((entry) => matrixOf(entry.item, entry.h)), framed(caption, tableOf(head, body)), matrixOf(item, h, true)];
}

// An exponential, or the sum of them.
const numberOfMove = (shares, what, env) => evaluate(what === "sum" ? shares.whole : shares.part, env);

function setBar(cell, share) {
  cell.style.setProperty("--share", String(Math.min(Math.max(share || 0, 0), 1)));
  cell.classList.add("barred");
}

// ---- a step on the stage ----

const stage = makeOf("div", '<div class="heading"></div><div class="heads-on-stage" role="group" aria-label="Head"></div><div class="picture-on-stage"></div>'
  + '<div class="bar"><div class="line now"></div><p class="where"></p><div class="along"><label><span class="spoken">Frame</span><input type="range" min="0" id="frame" autocomplete="off"></label>'
  + '<button type="button" id="others" title="Fill the rows of the other queries too (key o)">Other rows</button></div>'
  + '<div class="walk" role="group" aria-label="Follow the query"><button type="button" id="back">← Back</button>'
  + '<button type="button" id="onward">Next →</button></div></div>', { id: "stage", role: "region", "aria-label": "Stage", hidden: "" });

function mountStep(item, frame = 0) {
  const [shown, h] = [headsShown(item), headOn(item)];
  scene = { item, h, ...schemeOf(item), shown, least: USUAL, at: 0, worked: { j: 0 }, room: { inner: Infinity, columns: Infinity } };
  const letters = [...new Set([...factorsOf(scene.product), ...operandsOf(item, h).map((entry) => entry.item.letter)])];
  scene.hues = huesOf(item, letters);
  scene.frames = framesOf(item);
  scene.walk = route.flatMap((one) => framesOf(one).map((_, at) => ({ item: one, at })));
  scene.least = together();
  const heads = shown.length > 1 ? shown.map((one) => make("button", `Head ${one + data.base}`, { type: "button", "aria-pressed": String(one === h), "data-head": one })) : [];
  $(".heads-on-stage", stage).replaceChildren(...heads);
  $(".heads-on-stage", stage).hidden = !heads.length;
  $("#frame").max = scene.walk.length - 1;
  $("#frame").disabled = !route.includes(item);
  $("#others").disabled = !hasRow(item) || queriesOf(item) < 2;
  $("#others").ariaPressed = allRows;
  tellStep();
  isAt(item.name);
  stage.classList.remove("closing"); // what it hides is measured
  keepRoom();
  scene.drawn = null;
  paintFrame(Math.min(frame, scene.frames.length - 1));
}


function pictureOf({ item, h, product, shares }) {
  if (shares) return movesOf(item, h, shares);
  if (!product) return sideBySide(item, h);
  const beside = operandsOf(item, h).filter((entry) => !factorsOf(product).includes(entry.item.letter));
  return [...beside.map((entry) => matrixOf(entry.item, entry.h)), ...falkOf(item, h, product)];
}

// The picture, as large as it fits: narrower cells where it does not, and then, in a product, fewer of them.
function drawPicture(frame) {
  const picture = $(".picture-on-stage", stage);
  const { room } = scene;
  const redraw = () => picture.replaceChildren(...(frame.closes ? [seenCard()] : pictureOf(scene)));
  const size = (name) => { picture.className = `picture-on-stage ${name}`; };
  const tooWide = () => $$(".scroll", picture).find((box) => box.scrollWidth > box.clientWidth + 1);
  const isStacked = () => picture.lastElementChild.getBoundingClientRect().bottom > picture.firstElementChild.getBoundingClientRect().bottom + 2;
  scene.drawn = Boolean(frame.closes);
  redraw();
  const fits = (name) => { size(name); return !tooWide() && !isStacked() && document.documentElement.scrollHeight <= innerHeight; };
  const sizes = document.body.classList.contains("board") ? ["board huge", "board"] : ["large", "", "small"];
  if (!wide.matches || !sizes.some(fits)) size(sizes[1]);
  if (sizes[1] === "") for (const name of ["tight", "tight fine"]) if (tooWide()) size(name);
  for (let box; scene.product && (box = tooWide()) && room.inner + room.columns !== 2;) {
    const [inner, columns] = ["inner", "columns"].map((name) => scene.inSight[name].filter((k) => k !== null).length);
    const fewer = Math.max(1, Math.floor((inner + columns) * (1 - box.clientWidth / box.scrollWidth) / 2));
    if (columns > 1 && (columns > 2 || inner <= 3)) Object.assign(room, { inner, columns: Math.max(columns - fewer, 1) });
    else Object.assign(room, { inner: Math.max(inner - fewer, 1), columns });
    redraw();
  }
  picture.classList.toggle("stacked", isStacked());
}
const wide = matchMedia("(min-width: 64rem)");

// The worked line and the sentence have from the first frame on the room of the tallest, so that nothing moves.
function keepRoom() {
  const { frames } = scene;
  for (const [name, fill] of [[".line.now", (copy, frame) => { copy.innerHTML = lineOf(frame); }], [".where", (copy, frame) => copy.append(...sentenceOf(frame))]]) {
    const box = $(name, stage);
    box.style.minHeight = "";
    box.replaceChildren();
    const copies = frames.map((frame) => { const copy = box.cloneNode(); fill(copy, frame); return copy; });
    box.after(...copies);
    copies.forEach(wrapLine);
    const tallest = Math.max(...copies.map((copy) => copy.offsetHeight));
    for (const copy of copies) copy.remove();
    box.style.minHeight = `${tallest}px`;
  }
}

// Heading and formula are those of the sheet; the first step of the walk leads to what it begins with.
function tellStep() {
  const section = sectionOf(scene.item);
  const heading = makeOf("h2", $("h2", section).innerHTML, { id: "stage-heading", tabindex: "-1" });
  const altered = section.classList.contains("edited");
  const parts = [...$$(altered ? ".altered" : ".line.formula, .tempered", section)].map((part) => part.cloneNode(true));
  for (const part of parts) {
    part.removeAttribute("tabindex");
    if (part.matches(".formula")) for (const math of $$("math", part)) colourLetters(math, scene.hues);
  }
  parts.sort((one, other) => other.matches(".formula") - one.matches(".formula"));
  const source = scene.item === route[0] && acts.find(isSource);
  if (source) parts.push(make("a", "Where queries, keys and values come from", { href: `#${source.name}`, class: "before" }));
  const wasIn = $(".heading", stage).contains(document.activeElement);
  $(".heading", stage).replaceChildren(heading, ...parts);
  if (wasIn) heading.focus({ preventScroll: true });
  reachable();
}

function fillCell(cell, full) {
  const [text, unseen] = cell.full;
  if (cell.textContent !== (full ? text : "")) cell.textContent = full ? text : "";
  cell.dataset.f = full ? unseen : text + unseen;
  cell.classList.toggle("empty", !full);
  cell.ariaLabel = !full ? "not computed yet" : cell.classList.contains("masked") ? `${text}, masked` : null;
}

const PHASES = ["part", "sum", "share"];

// Whether an entry of the step, or what it puts in, stands there in a frame.
function isFilled(frame, what, place) {
  const { item, shares } = scene;
  if (hasRow(item) && lineIn(item, place) !== followed.row) return allRows;
  if (frame.opens) return false;
  if (frame.at) return keyIn(item, place) <= frame.k;
  return !shares || PHASES.indexOf(what) <= PHASES.indexOf(frame.phase);
}

// Whether a frame works out an entry of the step, or what it puts in.
const worksOut = ({ opens, closes, at, phase }, what, entry) => (at ? at.key === entry.key : !opens && !closes && (!phase || phase === what));

function paintFrame(at) {
  scene.at = at;
  const frame = scene.frames[at];
  const { item, product } = scene;
  const isAsked = (place) => hasRow(item) && lineIn(item, place) === followed.row;
  scene.worked.j = frame.at?.j ?? scene.worked.j;
  if (scene.drawn !== Boolean(frame.closes) || (product && !frame.closes && !scene.inSight.columns.includes(scene.worked.j))) drawPicture(frame);
  const worked = frame.at ? [frame.at] : frame.opens || frame.closes || !hasRow(item) ? [] : inSightAlong();
  const read = new Set(worked.flatMap((entry) => [...reads(item.rule, entry)]).map(({ key }) => key));
  for (const cell of $$(".entry", stage)) {
    const { entry, what } = cell;
    if (cell.classList.contains("result")) {
      fillCell(cell, isFilled(frame, what, entry));
      const isWorked = isAsked(entry) && worksOut(frame, what, entry);
      cell.classList.toggle("focal", isWorked);
      cell.classList.toggle("lit", !isWorked && Boolean(frame.phase) && isAsked(entry) && !cell.classList.contains("empty"));
      continue;
    }
    cell.classList.toggle("lit", read.has(cell.key));
    if (!hasRow(item) || !hasRow(entry.item)) continue;
    const isOther = !allRows && lineIn(entry.item, entry) !== followed.row;
    cell.classList.toggle("aside", isOther);
    if (route.includes(entry.item)) fillCell(cell, !isOther);
  }
  document.body.classList.toggle("opening", Boolean(frame.opens));
  stage.classList.toggle("closing", Boolean(frame.closes));
  const line = $(".line.now", stage);
  line.innerHTML = lineOf(frame);
  reachable([line]);
  const where = $(".where", stage);
  where.replaceChildren(...sentenceOf(frame));
  const words = spoken(frame.closes ? $(".seen", stage) : where);
  $("#said").textContent = words;
  const slider = $("#frame");
  slider.value = Math.max(scene.walk.findIndex((one) => one.item === item && one.at === at), 0);
  slider.ariaValueText = words;
  $("#back").ariaDisabled = at === 0 && !neighbour(-1);
  $("#onward").ariaDisabled = isLast();
  for (const box of $$(".picture-on-stage .scroll", stage)) showIn(box, $(".focal", box) ?? $(".lit", box));
  const [picture, bar] = [$(".picture-on-stage", stage), $(".bar", stage).offsetHeight];
  stage.style.setProperty("--bar", `${bar}px`);
  const isWhole = picture.offsetHeight + 24 < innerHeight - bar - covered();
  if (!frame.opens) (isWhole ? picture : $(".focal.result", stage))?.scrollIntoView({ block: "nearest", inline: "nearest", behavior: calm() });
}

// A matrix that is wider than the screen is scrolled to the entry that is looked at.
function showIn(box, cell) {
  if (!cell || box.scrollWidth <= box.clientWidth) return;
  const [outer, inner] = [box.getBoundingClientRect(), cell.getBoundingClientRect()];
  if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
}

// The entries of the query's row, and those of them that are in sight.
const rowOnStage = () => rowIn(scene.item, hasRow(scene.item) ? followed.row : 0, scene.h);
function inSightAlong() {
  const row = rowOnStage();
  return indicesShown(row.length).map((k) => row[k]);
}

// The entry of a row that is worked out: the heaviest in sight.
const workedOut = ({ at }) => at ?? inSightAlong().reduce((best, one) => (one.value > best.value ? one : best));

// ---- the worked line, in the colours of its factors ----

function lineOf(frame) {
  const { hues } = scene;
  if (frame.opens || frame.closes) return "";
  frame.prints ??= printersIn(frame, scene.least);
  dress = (piece, entry) => ({ ...piece, markup: `<mrow class="in-${hues.get(entry.item.letter) ?? ""}">${piece.markup}</mrow>` });
  try {
    if (frame.phase === "part" || frame.phase === "sum") return moveLine(frame);
    return inParts(linksOf(workedOut(frame), frame.prints));
  } finally { dress = (piece) => piece; }
}

// Parts of a line, of which one goes on below where there is no room beside the last.
const inParts = (parts) => parts.map(([first, ...rest]) => inMath(first.replace(/^<mo>/, '<mo form="infix">'), ...rest)).join("");

// How the lines of a step are printed, all with as many decimals, those from which each follows: how many more than usual.
function together() {
  const { frames } = scene;
  for (let least = USUAL; ;) {
    for (const frame of frames) frame.prints = printersIn(frame, least);
    // a sum of 14 digits asks for what no other line needs, and has it alone
    const most = USUAL.map((_, k) => Math.max(least[k], ...frames.map(({ phase, prints }) => (phase !== "sum" && prints[k]?.more) || 0)));
    if (most.join() === least.join()) return least;
    least = most;
  }
}

function printersIn(frame, least) {
  const { shares } = scene;
  if (frame.opens || frame.closes) return [null, null];
  const entry = workedOut(frame);
  if (frame.phase === "part") {
    const short = printer(least[1]);
    return [printerFor(({ at }) => partsInSight().every((env) => short.same(evaluate(shares.part, env, at), shares.part, env)), least[0]), short];
  }
  if (frame.phase !== "sum") return printersOf(entry, least);
  const { text } = shownAs(numberOfMove(shares, "sum", entry));
  const gives = ({ at, ready }) => shownAs(evaluate(shares.whole, entry, at, ready)).text === text;
  return isRaised(shares) ? [null, printerFor(gives, least[1])] : [printerFor(gives, least[0]), null];
}

const EXPONENTIALS_IN_LINE = 4;
const isRaised = (shares) => shares.part[0] === "x";

// The entries whose exponentials are in the line of a row.
const partsInSight = () => inSightAlong().slice(0, EXPONENTIALS_IN_LINE);

function moveLine({ phase, prints: [long, short] }) {
  const { item, shares } = scene;
  if (phase === "sum") {
    const env = workedOut({});
    const sum = shownAs(numberOfMove(shares, "sum", env));
    return inParts([[spell(shares.whole, env, true, long ?? short ?? asShown).markup], [mo(sum.exact ? "=" : "≈"), numeral(sum.text).markup]]);
  }
  const parts = partsInSight();
  const all = widthOf(item);
  return inParts(parts.map((where, k) => {
    const [read] = reads(shares.part, where);
    const isSame = shownAs(numberOfMove(shares, "part", where)).exact && read.isExact;
    const behind = k < parts.length - 1 ? mo(",") : parts.length < all ? `${mo(",")}${mo("⋯")}` : "";
    return [spell(shares.part, where, false, long ?? printer(scene.least[0])).markup, mo(isSame ? "=" : "≈"), numeral(short.part(shares.part, where)).markup, behind];
  }));
}

// ---- walking ----

// The step before or after this one: along the way of the query, and before its first step what it begins with.
function neighbour(by) {
  const steps = route.includes(scene.item) && (by > 0 || scene.item !== route[0]) ? route : acts;
  return steps[steps.indexOf(scene.item) + by];
}
const isLast = () => scene.at === scene.frames.length - 1 && !neighbour(1);

function standAt({ item, at }) {
  if (!item) return;
  if (item === scene.item) paintFrame(at); else { scrollTo(0, 0); mountStep(item, at); }
  remember();
}
const goAlong = (place) => standAt(scene.walk[place]);

function goOn(by) {
  const at = scene.at + by;
  standAt(scene.frames[at] ? { item: scene.item, at } : { item: neighbour(by), at: by < 0 ? Infinity : 0 });
}

const walkSteps = (by) => standAt({ item: neighbour(by), at: 0 });
const fillRows = () => { allRows = !allRows; mountStep(scene.item, scene.at); remember(); };

// ---- on and off ----

const modeButton = make("button", "", { type: "button", id: "mode" });
const modes = make("p", "", { class: "mode" });

// What leads to the other mode. On the stage it stands among the controls, above all.
function offer(isStaged) {
  const [words, sign, title] = isStaged ? ["All steps", "", "One below the other (key s)"] : ["Follow one token", " ▸", "On a stage, one move at a time (key s)"];
  modeButton.replaceChildren(words, make("span", sign, { "aria-hidden": "true" }));
  modeButton.title = title;
  (isStaged ? above : modes)[isStaged ? "append" : "prepend"](modeButton);
  $("header")[isStaged ? "before" : "after"](above);
}

function changeTo(isStaged) {
  document.body.classList.toggle("staged", isStaged);
  stage.hidden = !isStaged;
  offer(isStaged);
  placeTemperature(isStaged);
  measure();
}

// The last frame in which an entry of the step is worked out.
const frameOf = (entry, what = "share") => Math.max(scene.frames.findLastIndex((frame) => worksOut(frame, what, entry)), 0);

// Opens the stage at a step, at the first of the way where nothing has this name, and at an entry of it, whose query is
// followed.
function openStage(name, entry = null) {
  const item = acts.find((one) => one.name === name) ?? route[0];
  if (!item) return;
  suppose(null); // what its frames say is of the attention as it is
  if (entry && hasRow(item)) followed = { row: lineIn(item, entry), head: entry.h ?? followed.head };
  if (!staged()) {
    changeTo(true);
    scrollTo(0, 0);
  }
  mountStep(item);
  if (entry) paintFrame(frameOf(entry));
  $("#stage-heading").focus({ preventScroll: true });
  remember();
}

function closeStage() {
  const { item, frames, at } = scene;
  scene = null;
  document.body.classList.remove("opening", "board", "veiled");
  if (document.fullscreenElement) document.exitFullscreen();
  changeTo(false);
  settle();
  isAt(item.name);
  reveal(sectionOf(item));
  if (frames[at].at) goTo(frames[at].at.key);
  remember();
}

function changeMode() {
  if (staged()) { closeStage(); return; }
  const chosen = pinned && parsed(pinned);
  if (acts.includes(chosen?.item)) openStage(chosen.item.name, chosen); else openStage(sections[Math.max(currentSection(), 0)].id);
}

modeButton.addEventListener("click", changeMode);

$("#back", stage).addEventListener("click", () => goOn(-1));
$("#onward", stage).addEventListener("click", () => goOn(1));
$("#frame", stage).addEventListener("input", (event) => goAlong(Number(event.target.value)));
$("#others", stage).addEventListener("click", fillRows);
stage.addEventListener("click", (event) => {
  const { target } = event;
  const { head } = target.dataset;
  if (head !== undefined) {
    followRow(followed.row, Number(head));
    $(`[data-head="${head}"]`, stage).focus();
  }
  if (target.matches(".before")) { event.preventDefault(); openStage(target.hash.slice(1)); }
  const { entry, what } = target.closest("td.result") ?? {};
  if (!entry) return;
  if (hasRow(scene.item) && lineIn(scene.item, entry) !== followed.row) followRow(lineIn(scene.item, entry));
  standAt({ item: scene.item, at: frameOf(entry, what) });
});

let fingerAt = null; // where a finger came down
stage.addEventListener("touchstart", (event) => {
  const { clientX: x, clientY: y } = event.touches[0];
  const box = event.target.closest(".scroll, .line, .heads-on-stage, input");
  fingerAt = event.touches.length > 1 || (box && (box.tagName === "INPUT" || box.scrollWidth > box.clientWidth + 1)) ? null : { x, y };
}, { passive: true });
stage.addEventListener("touchend", (event) => {
  if (!fingerAt) return;
  const [right, down] = [event.changedTouches[0].clientX - fingerAt.x, event.changedTouches[0].clientY - fingerAt.y];
  if (Math.abs(right) > 48 && Math.abs(right) > 2 * Math.abs(down)) walkSteps(right < 0 ? 1 : -1);
});

keysWhile(always, { s: changeMode });
keysWhile(staged, {
  n: () => walkSteps(1),
  p: () => walkSteps(-1),
  Escape: closeStage,
  ArrowRight: () => goOn(1),
  ArrowLeft: () => goOn(-1),
  o() { if (!$("#others").disabled) fillRows(); },
  Home: () => goAlong(0),
  End: () => goAlong(scene.walk.length - 1),
  " ": ({ target }) => !target.closest("button, a, summary") && goOn(1),
});

whenSettled(() => { if (staged()) mountStep(scene.item, scene.at); });

let width = innerWidth;
addEventListener("resize", () => {
  if (staged() && innerWidth !== width) mountStep(scene.item, scene.at);
  width = innerWidth;
});

offer(false);
if (acts.length) {
  $("header h1").after(modes);
  above.after(stage);
}
follow();
