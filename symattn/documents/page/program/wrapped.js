// Formulas that are wider than a row, cut as one does by hand: before = and ≈, before + and −, before a factor, and inside
// the widest one. A fraction that is too wide by itself is written with a slash, and e^x as exp(x), so that they can be cut.

const [ROOM, SUMS, FACTORS] = [60, /^[=≈+−]$/, /^[·∘/\u2062]$/]; // characters, signs to cut before
const isSign = (part, signs) => part?.localName === "mo" && signs.test(part.textContent);
const isFence = (part) => part?.localName === "mrow" && /^[([]$/.test(part.firstElementChild?.textContent);
const inRow = (...parts) => { const row = makeOf("div", inMath()).firstChild.firstChild; row.append(...parts); return row; };
const inlined = (...marked) => [...makeOf("div", inMath(...marked)).firstChild.firstChild.children];
const inBrackets = (part, [opening, closing] = inlined(mo("("), mo(")"))) => (isFence(part) ? part : inRow(opening, part, closing));

// About how many characters wide parts are when they are set.
const spanOf = (...parts) => parts.reduce((span, part) => span + (part.localName === "mfrac" ? Math.max(...[...part.children].map((one) => spanOf(one)))
  : part.children.length ? spanOf(...part.children) : part.textContent.length), 0);

// The parts of a row that has no brackets, with the sign that it begins with.
function partsOf(row) {
  if (row.localName !== "mrow" || isFence(row)) return [row];
  const parts = [...row.children].flatMap(partsOf);
  if (isSign(parts[0], /^−$/) && !parts[0].hasAttribute("form")) parts[0].setAttribute("form", "prefix");
  return parts;
}

// A part written so that it can be cut, if there is a way.
function flat(part) {
  const [one, other] = part.children;
  const operand = (inner, signs) => (partsOf(inner).some((each) => isSign(each, signs)) ? inBrackets(inner) : inner);
  if (part.localName === "mfrac") return [operand(one, SUMS), ...inlined(mo("/")), operand(other, /./)];
  if (part.localName === "msup" && one.textContent === "e") return [...inlined("<mi>exp</mi>", mo("\u2061")), inBrackets(other)];
  if (part.localName === "mtable" && part.children.length === 1) return [...one.children].flatMap((cell, k) => [...(k ? inlined(mo(",")) : []), ...cell.children]);
  const [power] = part.localName === "msqrt" ? inlined("<msup><mn>1</mn><mn>1/2</mn></msup>") : [];
  power?.firstChild.replaceWith(inBrackets(inRow(...part.children)));
  return power && [power];
}

// Parts in pieces that are no wider than a row, as far as they can be cut; sums, even where only wider than `room`.
function cut(whole, room = ROOM) {
  const span = spanOf(...whole);
  if (span <= room) return [whole];
  const parts = whole.flatMap(partsOf);
  for (const [signs, aside] of [[SUMS, 0], [FACTORS, ROOM / 4]]) {
    const found = [...parts.keys()].filter((k) => k && isSign(parts[k], signs) && !isSign(parts[k - 1], /^[^)\]]$/)
      && (!aside || Math.min(spanOf(...parts.slice(0, k)), spanOf(...parts.slice(k))) >= aside));
    const cuts = found.slice(Number(isSign(parts[found[0]], /^[=≈]$/))); // a name keeps its sign
    for (const k of cuts) setAll(parts[k], { form: "infix" }).textContent = parts[k].textContent.replace("\u2062", "·");
    if (cuts.length) return [0, ...cuts].flatMap((start, k) => cut(parts.slice(start, cuts[k])));
    if (span <= ROOM) return [whole];
  }
  for (const k of [...parts.keys()].sort((one, other) => spanOf(parts[other]) - spanOf(parts[one]))) {
    const [before, part, after] = [parts.slice(0, k), parts[k], parts.slice(k + 1)];
    const other = flat(part);
    if (other) return cut([...before, ...other, ...after]);
    const fence = part.localName === "msup" ? part.firstElementChild : part;
    const [opening, ...inner] = isFence(fence) ? fence.children : [];
    const [closing, pieces] = [inner.pop(), cut(inner)];
    if (pieces.length < 2) continue;
    for (const bracket of [opening, closing]) setAll(bracket, { stretchy: "false" }); // both of one size
    if (fence !== part) fence.replaceWith(closing);
    return [[...before, opening, ...pieces[0]], ...pieces.slice(1, -1), [...pieces.at(-1), fence === part ? closing : part, ...after]];
  }
  return [parts];
}

// The formulas of a line go on below where they are cut, once after it was written.
function wrapLine(line) {
  if (line.wrapped === line.firstElementChild) return;
  for (const math of $$(":scope > math", line)) {
    const pieces = cut([...math.children], ROOM / 3);
    if (pieces.length > 1) math.replaceWith(...pieces.map((parts) => inRow(...parts).parentElement));
  }
  line.wrapped = line.firstElementChild;
}
