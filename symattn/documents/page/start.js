// Last: a saved copy shows the numbers that the page came with.
if (saved) settle();
followLink();

// For a reader at the console: every number with all its bits, and where it comes from.
const asked = (f) => (letter, i, j, h = null) => f(items.get(letter), h, i, j);
globalThis.symattn = Object.freeze({
  letters: data.items.map((item) => item.letter),
  value: asked((item, h, i, j) => valueAt(item, placeOf(item, h, i, j))),
  byRule: asked((item, h, i, j) => certified.nearest(evaluate(item.rule, { i, j, h }))),
  reads: asked((item, h, i, j) => [...reads(item.rule, { i, j, h })].map((entry) => entry.key)),
  worked: asked(workedLine),
});
