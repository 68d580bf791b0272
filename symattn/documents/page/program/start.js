// Queries, keys, values and weights have their colours in every formula.
const roles = new Map(data.items.map((item) => [item.letter, item.role]));
for (const math of $$(".formula math, figcaption math")) colourLetters(math, roles);

// Where no font has the parts of a tall bracket, Chromium leaves it as low as a letter: it is drawn out.
const drawOut = () => $$('mo[stretchy="true"]').forEach((sign) => {
  sign.style.transform = "";
  const [own, whole] = [sign, sign.parentElement].map((element) => element.getBoundingClientRect());
  if (!own.height || own.height > 0.9 * whole.height) return;
  const below = (whole.top + whole.bottom - own.top - own.bottom) / 2 / parseFloat(getComputedStyle(sign).fontSize);
  sign.style.transform = `translateY(${below.toFixed(3)}em) scaleY(${(whole.height / own.height).toFixed(3)})`;
});
drawOut();
matchMedia("print").addEventListener("change", drawOut); // on paper fonts are smaller

// Last: a saved copy shows the numbers that the page came with.
if (saved) settle();
if (data.stage && !location.hash) openStage();
followLink();
if (weighed) newGoals();
if (data.chosen && !pinned) { select(data.chosen); show(pinned); }

// For a reader at the console: every number with all its bits, and where it comes from.
const asked = (f) => (letter, i, j, h = null) => f(new Entry(items.get(letter), h, i, j));
globalThis.symattn = Object.freeze({
  letters: data.items.map((item) => item.letter),
  value: asked((entry) => entry.value),
  byRule: asked((entry) => certified.nearest(evaluate(entry.item.rule, entry))),
  reaches: asked((entry) => {
    const { read, changed } = wholly(reaching(entry, false));
    return [changed, read].map((found) => [...found].flatMap(([letter, places]) => [...places].map((place) => entryIn(items.get(letter), place).key)));
  }),
  worked: asked(workedLine),
});
