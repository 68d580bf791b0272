// What an entry reaches: the entries that another number in its place would change. They are found by trying: what
// is computed from it is computed anew, by the same rules in floats, with several other numbers in its place. What no
// trial changes is cut off, by a mask, by a factor of 0, or because it cancels.

// Beyond this, what an entry reaches is looked for after it was chosen, and not while the mouse passes over it.
const AT_ONCE = 2000;
const entries = data.items.reduce((sum, item) => sum + item.texts.length, 0);

const FLOATS = {
  "√": Math.sqrt, exp: Math.exp, ln: Math.log, tanh: Math.tanh, sin: Math.sin, cos: Math.cos, abs: Math.abs,
  erf: Math.tanh, // rises as erf does, which is all that is asked here
  "σ": (x) => 1 / (1 + Math.exp(-x)),
  elu1: (x) => (x < 0 ? Math.exp(x) : x + 1),
  max0: (x) => Math.max(x, 0), min1: (x) => Math.min(x, 1), above0: (x) => +(x > 0), below1: (x) => +(x < 1),
};

// The t with Σ max(x − t, 0) = 1.
function thresholdOf(row) {
  let sum = -1;
  const ranked = row.filter(Number.isFinite).sort((a, b) => b - a);
  return Math.max(...ranked.map((x, k) => (sum += x) / (k + 1)));
}

const constants = new Map();
function constantAt(table, env) {
  const one = look(table, env);
  if (!constants.has(one)) constants.set(one, certified.nearest(certified.made(one[0])));
  return constants.get(one);
}

// The row of what a body is while its index runs, of an env that is changed in place.
function rowOf(body, name, size, env, of) {
  const row = [];
  for (env[name] = 0; env[name] < size; env[name]++) row.push(of(body));
  return row;
}

const holds = (sign, left, right) => (sign === "≤" ? left <= right : left === right);
const placeIn = (item, [, , head, row, column], env) => placeOf(item, head === null ? null : indexAt(head, env), indexAt(row, env), indexAt(column, env));

// A share of exponentials, none of which is too large.
function shareOf(own, row) {
  const most = Math.max(...row);
  return most === -Infinity ? 0 : Math.exp(own - most) / row.reduce((sum, x) => sum + Math.exp(x - most), 0);
}

// A rule in floats, with those that `at` has for the entries.
function floatOf(rule, env, at) {
  const value = (part) => floatOf(part, env, at);
  const all = () => rule.slice(1).map(value);
  switch (rule[0]) {
    case "e": return at(rule[1])[placeIn(items.get(rule[1]), rule, env)];
    case "c": return constantAt(rule[1], env);
    case "+": return summedUp(all());
    case "*": return all().reduce((a, b) => a * b);
    case "/": {
      const [above, [kind, body, ...run]] = rule.slice(1);
      if (above[0] === "x" && kind === "s" && body[0] === "x") return shareOf(value(above[1]), rowOf(body[1], ...run, env, value));
      const below = value(rule[2]); return rule[3] && below === 0 ? 0 : value(above) / below;
    }
    case "s": return summedUp(rowOf(rule[1], rule[2], rule[3], env, value));
    case "x": {
      const of = value(rule[1]);
      return Math.exp(of) || (of === -Infinity ? 0 : NaN); // too small for a float: this trial tells nothing
    }
    case "f": return FLOATS[rule[1]](value(rule[2]));
    case "^": return value(rule[1]) ** rule[2];
    case "r": {
      const row = rowOf(rule[2], rule[3], rule[4], env, value);
      if (rule[1] === "argmax") return row.indexOf(Math.max(...row));
      return rule[1] === "max" ? Math.max(...row) : thresholdOf(row);
    }
    default: {
      const [left, sign, right] = Array.isArray(rule[1]) ? rule[1] : [];
      return value((sign ? holds(sign, value(left), value(right)) : look(rule[1], env) === 1) ? rule[2] : rule[3]);
    }
  }
}

// Whether a rule reads one of the places of these letters, whatever the numbers are.
function touches(rule, env, places) {
  const some = (part) => Array.isArray(part) && touches(part, env, places);
  switch (rule[0]) {
    case "e": return places.has(rule[1]) && places.get(rule[1]).has(placeIn(items.get(rule[1]), rule, env));
    case "c": return false;
    case "s": case "r": {
      const [body, name, size] = rule.slice(-3);
      for (env[name] = 0; env[name] < size; env[name]++) if (some(body)) return true;
      return false;
    }
    case "?":
      if (Array.isArray(rule[1])) return [rule[1][0], rule[1][2], rule[2], rule[3]].some(some);
      return some(look(rule[1], env) === 1 ? rule[2] : rule[3]);
    default: return rule.some(some);
  }
}

// Of what an entry reads, that which counts with the numbers as they are: beside a factor of 0 no other does, and
// beside a summand of −∞ none that is finite.
function* counting(rule, env) {
  const [kind, ...parts] = rule;
  if (kind === "e") { yield entryAt(rule, env); return; }
  const runs = kind === "s" ? [...along(parts, env)] : kind === "+" || kind === "*" ? parts.map((part) => [part, env]) : null;
  if (!runs) {
    if (kind === "?") yield* counting(branch(rule, env), env);
    else if (kind === "r") for (const run of along(parts.slice(1), env)) yield* counting(...run);
    else for (const part of parts) if (Array.isArray(part) && kind !== "c") yield* counting(part, env);
    return;
  }
  const ruling = runs.filter(([part, where]) => { const number = evaluate(part, where); return kind === "*" ? equal(number, 0) : number === certified.LOWEST; });
  for (const run of ruling.length ? ruling : runs) yield* counting(...run);
}

const lettersIn = (rule) => (rule[0] === "e" ? [rule[1]] : rule.flatMap((part) => (Array.isArray(part) ? lettersIn(part) : [])));
const computedItems = data.items.filter((item) => item.rule);
for (const item of computedItems) item.sources = new Set(lettersIn(item.rule));
const isStep = (item) => item.rule && !(live && given.has(item.letter));
const isRead = (item) => computedItems.some((other) => other.sources.has(item.letter));

// The numbers as floats, with all their bits, also of a page that nobody changed.
let unchanged;
const floatsNow = () => live || (unchanged ??= computed(floating, "floats", 1));

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
function* reaching(key, direct) {
  const { item, place } = parsed(key);
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
      const env = placed(step, at);
      if (!touches(step.rule, env, reads)) continue;
      note(read, step, at);
      if (!touches(step.rule, env, changed)) continue;
      widest = 0;
      const before = floatOf(step.rule, env, (letter) => base.get(letter)) / cooler;
      trials.forEach((trial, k) => {
        const after = floatOf(step.rule, env, (letter) => trial.get(letter) || base.get(letter)) / cooler;
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

const reachedBy = new Map(); // key → what it reaches; forgotten when a number changes
let seeking = null; // the timer of the search
whenSettled(() => { reachedBy.clear(); clearTimeout(seeking); });

const wholly = (work) => { for (;;) { const { done, value } = work.next(); if (done) return value; } };

// What an entry reaches: at once, or `then` is called when it is found, and until then only what reads it itself.
function reached(key, then) {
  clearTimeout(seeking);
  if (reachedBy.has(key)) return reachedBy.get(key);
  const finish = (found) => { reachedBy.set(key, found); return found; };
  if (entries <= AT_ONCE) return finish(wholly(reaching(key, false)));
  const work = reaching(key, false);
  const go = () => {
    const until = performance.now() + SLICE;
    for (let next = work.next(); ; next = work.next()) {
      if (next.done) { finish(next.value); then(); return; }
      if (performance.now() > until) { seeking = setTimeout(go); return; }
    }
  };
  if (then) seeking = setTimeout(go);
  return { ...wholly(reaching(key, true)), direct: true };
}

// ---- sums of products --------------------------------------------------------------------------------

// The products that an entry is the sum of, the heaviest first: by weight, or by size where none is a weight. With the
// product's digits, and its share in percent where none is negative, as far as they are proven.
function productsOf(rule, env) {
  if (rule?.[0] !== "s" || rule[1][0] !== "*" || rule[1].slice(1).some(([kind]) => kind !== "e" && kind !== "c")) return null;
  const products = [...along(rule.slice(1), env)].map(([body, inner]) => {
    const factors = [...reads(body, inner)];
    const heavy = factors.find(({ item }) => item.name === "weights");
    const number = evaluate(body, inner);
    const size = Math.abs(certified.nearest(heavy ? numberAt(heavy.item, heavy.place) : number));
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
