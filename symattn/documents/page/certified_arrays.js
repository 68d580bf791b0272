// What the program of the page calls, with certified numbers. The functions have the names, arguments and
// meanings of those of symattn/documents/code/arrays.js, in whose place they are called.

// Numbers of any kind in a row, with what a typed array has and a plain one has not.
class Numbers extends Array {
  static get [Symbol.species]() { return Array; }
  constructor(size = 0) { super(size); this.fill(0); }
  subarray(from, to) { return this.slice(from, to); }
  set(values, at = 0) { values.forEach((value, k) => { this[at + k] = value; }); }
}

const certifiedArrays = ({ each, rows, array, range, broadcast, together, count }) => {
  const c = certified;
  const f = c.OF_ONE;
  const entrywise = (of) => (...xs) => each((...values) => of(...values.map(c.certain)), ...xs);
  const ofRows = (of, size = () => 1) => (x) => rows(x, size, (row) => of(Array.from(row, c.certain)));
  // One or the other as a condition, 1 or 0, holds.
  const either = (condition, one, other) => c.ordered(condition, 0, (found) => (found ? one : other));
  const all = (row) => row.reduce((a, b) => either(a, b, 0), 1);
  const products = (a, b, of) => {
    const [n, inner] = a.shape.slice(-2);
    const m = b.shape.at(-1);
    const lead = together(a.shape.slice(0, -2), b.shape.slice(0, -2));
    const [left, right] = [broadcast(a, [...lead, n, inner]), broadcast(b, [...lead, inner, m])];
    const out = array([...lead, n, m]);
    for (let block = 0, k = 0; block < count(lead); block++)
      for (let i = 0; i < n; i++)
        for (let j = 0; j < m; j++, k++)
          out.data[k] = of(range(0, inner, 1).map((l) => [left.data[(block * n + i) * inner + l], right.data[(block * inner + l) * m + j]]));
    return out;
  };
  return {
    asArray: (x) => (x.shape ? x : array([], [x])),
    add: entrywise((a, b) => c.sum([a, b])),
    subtract: entrywise(c.minus),
    multiply: entrywise(c.product),
    divide: entrywise(c.quotient),
    negative: entrywise((a) => c.product(-1, a)),
    equals: entrywise((a, b) => c.ordered(a, b, (found) => +(found === 0))),
    and: entrywise((a, b) => either(a, b, 0)),
    not: entrywise((a) => either(a, 0, 1)),
    hidden: entrywise((a) => (a === c.UNKNOWN ? a : +(a === c.LOWEST))),
    where: entrywise(either),
    every: ofRows((row) => [all(row)]),
    some: ofRows((row) => [either(all(row.map((x) => either(x, 0, 1))), 0, 1)]),
    exponential: entrywise(c.exp),
    tanh: entrywise(f.tanh),
    sqrt: entrywise(c.sqrt),
    cos: entrywise(f.cos),
    sin: entrywise(f.sin),
    erf: entrywise(f.erf),
    log: entrywise(f.ln),
    sigmoid: entrywise(c.sigmoid),
    relu: entrywise(f.max0),
    absolute: entrywise(f.abs),
    atMost1: entrywise(f.min1),
    above0: entrywise(f.above0),
    below1: entrywise(f.below1),
    elu1: entrywise(f.elu1),
    rowSum: ofRows((row) => [c.sum(row)]),
    rowMax: ofRows((row) => [c.largest(row)]),
    hardmax: ofRows(c.firstLargest, (n) => n),
    threshold: ofRows((row) => [c.threshold(row)]),
    softmax: ofRows((row) => c.shares(row), (n) => n),
    softmaxWithSink: (x, sink) => {
      const width = x.shape.at(-1);
      const beside = broadcast(typeof sink === "number" ? array([], [sink]) : sink, [...x.shape.slice(0, -1), 1]);
      let at = 0;
      return rows(x, () => width, (row) => c.shares(Array.from(row, c.certain), [c.certain(beside.data[at++])]));
    },
    matmul: (a, b) => products(a, b, (pairs) => c.sum(pairs.map(([x, y]) => c.product(x, y)))),
    sumsAt: (x, places, size) => {
      const [width, at] = [x.shape.at(-1), broadcast(places, x.shape)];
      const out = array([...x.shape.slice(0, -1), size]);
      out.data.forEach((_, k) => {
        const row = Math.floor(k / size) * width;
        out.data[k] = c.sum(range(row, row + width, 1).filter((l) => at.data[l] === k % size).map((l) => x.data[l]));
      });
      return out;
    },
    alibiSlopes: (heads) => {
      const power = 2 ** Math.floor(Math.log2(heads));
      const slopes = range(0, power, 1).map((head) => c.power(2, -8 * (head + 1), power));
      const between = range(0, 2 * power, 2).map((head) => c.power(2, -4 * (head + 1), power));
      return [...slopes, ...between.slice(0, heads - power)];
    },
    // ⌊s ln(d/e)/ln(D/e)⌋ is the largest t with (D/e)^t ≤ (d/e)^s, in whole numbers.
    relativeBucket: function bucket(offset, buckets, furthest, bidirectional) {
      if (bidirectional) return (offset > 0 ? buckets / 2 : 0) + bucket(-Math.abs(offset), buckets / 2, furthest, false);
      const [distance, exact] = [Math.max(-offset, 0), Math.floor(buckets / 2)];
      if (distance < exact) return distance;
      const [d, e, far, spaces] = [distance, exact, furthest, buckets - exact].map(BigInt);
      let t = 0n;
      while (t < spaces && far ** (t + 1n) * e ** spaces <= d ** spaces * e ** (t + 1n)) t++;
      return Math.min(exact + Number(t), buckets - 1);
    },
    root: c.sqrt,
    raised: c.power,
    quotientOf: c.quotient,
    productOf: (...xs) => xs.reduce(c.product),
    sumOf: (...xs) => c.sum(xs),
    ofNumber: (name, x) => c.OF_ONE[name](x),
    circle: () => c.made(["π"]),
  };
};
