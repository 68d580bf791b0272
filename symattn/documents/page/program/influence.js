// What an entry reaches: the entries that another number in its place would change. They are found by trying: what
// is computed from it is computed anew, by the same rules in floats, with several other numbers in its place. What no
// trial changes is cut off, by a mask, by a factor of 0, or because it cancels.

// Beyond this, what an entry reaches is looked for after it was chosen, and not while the mouse passes over it.
const AT_ONCE = 2000;
const entries = data.items.reduce((sum, item) => sum + item.texts.length, 0);

// Floats that tell in which sums terms cancel. An exponential too small for one is NaN: that trial tells nothing; and erf
// is what rises as it does.
const TRIED_FLOATS = { ...FLOATS, sum: summedUp, exp: (x) => Math.exp(x) || (x === -Infinity ? 0 : NaN), OF_ONE: { ...FLOATS.OF_ONE, erf: Math.tanh } };

// Whether a rule reads one of the places of these letters, whatever the numbers are.
function touches(rule, env, places) {
  if (rule[0] === "e") return Boolean(places.get(rule[1])?.has(placeIn(items.get(rule[1]), rule, env)));
  const parts = isCompared(rule) ? [rule[1][0], rule[1][2], rule[2], rule[3]].map((part) => [part, env]) : within(rule, env);
  for (const [part, where] of parts) if (touches(part, where, places)) return true;
  return false;
}

// Of what an entry reads, that which counts with the numbers as they are: beside a factor of 0 no other does, and
// beside a summand of −∞ none that is finite.
function* counting(rule, env) {
  const [kind] = rule;
  if (kind === "e") yield entryAt(rule, env);
  const parts = [...within(rule, env)];
  const rules = (number) => (kind === "*" ? equal(number, 0) : number === certified.LOWEST);
  const ruling = ["s", "+", "*"].includes(kind) ? parts.filter((run) => rules(evaluate(...run))) : [];
  for (const run of ruling.length ? ruling : parts) yield* counting(...run);
}

const computedItems = data.items.filter((item) => item.rule);
for (const item of computedItems) item.sources = new Set([...entriesIn(item.rule)].map(([, letter]) => letter));
const isStep = (item) => item.rule && !(live && given.has(item.letter));
const isRead = (item) => computedItems.some((other) => other.sources.has(item.letter));

// The numbers as floats, with all their bits, also of a page that nobody changed.
let unchanged;
const floatsNow = () => live || (unchanged ??= computed("floats"));

// The largest term of a sum with terms of both signs.
let widest = 0;
function summedUp(terms) {
  const [least, most] = [Math.min(...terms), Math.max(...terms)];
  if (least < 0 && most > 0 && most - least < Infinity) widest = Math.max(widest, most - least);
  return terms.reduce((a, b) => a + b, 0);
}

// Other numbers that an entry might be: near and far, above and below, so that what only jumps is found too.
const otherNumbers = (item, value) => {
  if (item.name === "allowed") return [1 - value];
  const from = Number.isFinite(value) ? value : 0;
  const others = [0.7312, -1.3789, 9.173, -11.37, 1234.5, -1432.1].map((by) => from + by);
  return item.logits && Number.isFinite(value) ? [...others, -Infinity] : others;
};

// To nine digits, and apart from what rounding leaves where a sum cancels.
function isOther(a, b) {
  if (a === b || Number.isNaN(a - b)) return false;
  const size = Math.max(Math.abs(a), Math.abs(b));
  return size === Infinity || Math.abs(a - b) > 1e-9 * size + 1e-13 * widest;
}

// What is computed from an entry (`read`) and what changes with it (`changed`): letter → places. `direct`: what reads
// it itself, without trying.
function* reaching({ item, place }, direct) {
  const base = floatsNow();
  const own = () => new Map([[item.letter, new Set([place])]]);
  const [read, changed] = [own(), own()];
  const trials = direct ? [] : otherNumbers(item, base.get(item.letter)[place]).map((other) => {
    const array = Float64Array.from(base.get(item.letter));
    array[place] = other;
    return new Map([[item.letter, array]]);
  });
  const note = (found, { letter }, at) => found.set(letter, (found.get(letter) || new Set()).add(at));
  for (const step of computedItems) {
    if (!isStep(step) || ![...step.sources].some((letter) => (direct ? letter === item.letter : read.has(letter)))) continue;
    const cooler = step.letter === data.tempered ? certified.nearest(divisor) : 1;
    const reads = new Map(direct ? own() : read);
    const fresh = trials.map(() => Float64Array.from(base.get(step.letter)));
    for (let at = 0; at < step.texts.length; at++) {
      if (at % 64 === 0) yield;
      const env = entryIn(step, at);
      if (!touches(step.rule, env, reads)) continue;
      note(read, step, at);
      if (!touches(step.rule, env, changed)) continue;
      widest = 0;
      const tried = (trial) => evaluate(step.rule, env, ({ letter }, where) => (trial.get(letter) || base.get(letter))[where], null, TRIED_FLOATS) / cooler;
      const before = tried(base);
      trials.forEach((trial, k) => {
        const after = tried(trial);
        const isChanged = isOther(after, before);
        if (isChanged) note(changed, step, at);
        if (isChanged || Number.isNaN(after)) fresh[k][at] = after;
      });
    }
    trials.forEach((trial, k) => trial.set(step.letter, fresh[k]));
  }
  for (const found of [read, changed]) {
    const places = found.get(item.letter);
    places.delete(place);
    if (!places.size) found.delete(item.letter);
  }
  return { read, changed: direct ? read : changed };
}

const reachedBy = new Map(); // key → what it reaches; forgotten when a number has changed
let seeking = null; // the timer of the search
whenSettled(() => { if (!held) reachedBy.clear(); clearTimeout(seeking); });

const wholly = (work) => { for (;;) { const { done, value } = work.next(); if (done) return value; } };

// What an entry reaches: at once, or `then` is called when it is found, and until then only what reads it itself.
function reached(entry, then) {
  clearTimeout(seeking);
  if (reachedBy.has(entry.key)) return reachedBy.get(entry.key);
  const finish = (found) => { reachedBy.set(entry.key, found); return found; };
  if (entries <= AT_ONCE) return finish(wholly(reaching(entry, false)));
  if (then) inSlices(reaching(entry, false), (timer) => { seeking = timer; }, (found) => { finish(found); then(); });
  return { ...wholly(reaching(entry, true)), direct: true };
}

// ---- sums of products --------------------------------------------------------------------------------

// The products that an entry is the sum of, the heaviest first: by weight, or by size where none is a weight. With the
// product's digits, and its share in percent where none is negative, as far as they are proven.
function productsOf(rule, env) {
  if (rule?.[0] !== "s" || rule[1][0] !== "*" || rule[1].slice(1).some(([kind]) => kind !== "e" && kind !== "c")) return null;
  const products = [...along(rule.slice(1), env)].map(([body, inner]) => {
    const factors = [...reads(body, inner)];
    const heavy = factors.find(({ item }) => item === weighed);
    const number = evaluate(body, inner);
    const size = Math.abs(certified.nearest(heavy ? heavy.number : number));
    return { factors, number, size: Number.isNaN(size) ? 0 : size };
  });
  if (products[0].factors.length < 2) return null;
  products.sort((one, other) => other.size - one.size);
  if (!live || proven) {
    const whole = certified.sum(products.map(({ number }) => number));
    const sides = products.map(({ number }) => certified.order(number, 0));
    const shared = certified.order(whole, 0) === 1 && sides.every((side) => side === 0 || side === 1);
    products.forEach((one, k) => {
      one.none = sides[k] === 0;
      if (k >= MOST_PRODUCTS) return; // only the others are told one by one
      const shown = shownAs(one.number);
      if (shown.proven) one.shown = shown;
      const share = shared && certified.shown(certified.quotient(certified.product(100, one.number), whole), 0, data.rounding);
      if (share && share.proven) one.share = `${share.exact ? "" : "≈ "}${share.text} %`;
    });
  }
  return products;
}
