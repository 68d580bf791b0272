// Arrays of numbers in rows: { shape, data }. A plain number stands for an array without axes.
// The last axis of `data` runs fastest; shapes are broadcast from the back, as in NumPy.
const count = (shape) => shape.reduce((a, b) => a * b, 1);

const array = (shape, data) => ({
  shape,
  data: data || new Float64Array(count(shape)),
});

const asArray = (x) => (typeof x === "number" ? array([], [x]) : x);

function matrix(nested) {
  const shape = [];
  for (let part = nested; Array.isArray(part); part = part[0])
    shape.push(part.length);
  return array(shape, Float64Array.from(nested.flat(shape.length)));
}

// The steps to take in `data` for each axis of a larger shape; 0 where an axis is repeated.
function strides(x, shape) {
  const out = new Array(shape.length).fill(0);
  for (let axis = x.shape.length - 1, step = 1; axis >= 0; axis--) {
    if (x.shape[axis] !== 1) out[axis + shape.length - x.shape.length] = step;
    step *= x.shape[axis];
  }
  return out;
}

function together(...shapes) {
  const out = [];
  for (const shape of shapes)
    shape.forEach((size, axis) => {
      const back = shape.length - axis;
      if (!out[back] || out[back] === 1) out[back] = size;
      else if (size !== 1 && size !== out[back])
        throw new Error("shapes do not fit");
    });
  return out.slice(1).reverse();
}

// Every index of a shape in order.
function* indices(shape) {
  const at = new Array(shape.length).fill(0);
  for (let left = count(shape); left > 0; left--) {
    yield at;
    for (
      let axis = shape.length - 1;
      axis >= 0 && ++at[axis] === shape[axis];
      axis--
    )
      at[axis] = 0;
  }
}

function each(f, ...operands) {
  const xs = operands.map((x) => asArray(x));
  const out = array(together(...xs.map((x) => x.shape)));
  const steps = xs.map((x) => strides(x, out.shape));
  let place = 0;
  for (const at of indices(out.shape)) {
    const values = xs.map(
      (x, k) =>
        x.data[at.reduce((sum, i, axis) => sum + i * steps[k][axis], 0)],
    );
    out.data[place++] = f(...values);
  }
  return out;
}

const add = (a, b) => each((x, y) => x + y, a, b);

const subtract = (a, b) => each((x, y) => x - y, a, b);

const multiply = (a, b) => each((x, y) => x * y, a, b);

const divide = (a, b) => each((x, y) => x / y, a, b);

const negative = (a) => each((x) => -x, a);

const equals = (a, b) => each((x, y) => +(x === y), a, b);

const atMost = (a, b) => each((x, y) => +(x <= y), a, b);

const wholePower = (a, b) => each((x, y) => x ** y, a, b);

const and = (a, b) => each((x, y) => +(x && y), a, b);

const not = (a) => each((x) => +!x, a);

const hidden = (a) => each((x) => +(x === -Infinity), a);

const where = (condition, a, b) =>
  each((c, x, y) => (c ? x : y), condition, a, b);

const exponential = (a) => each(Math.exp, a);

const tanh = (a) => each(Math.tanh, a);

const sqrt = (a) => each(Math.sqrt, a);

const cos = (a) => each(Math.cos, a);

const sin = (a) => each(Math.sin, a);

// (2/√π) ∫₀ˣ e^(−t²) dt: below 2 by its series of positive terms, from there on
// by the continued fraction of 1 − erf (Abramowitz and Stegun 7.1.6 and 7.1.14).
function errorFunction(x) {
  const size = Math.abs(x);
  const bell = Math.exp(-size * size) / Math.sqrt(Math.PI);
  if (size < 2) {
    let [sum, term] = [0, 2 * size];
    for (let k = 3; sum + term > sum; k += 2) {
      sum += term;
      term *= (2 * size * size) / k;
    }
    return Math.sign(x) * bell * sum;
  }
  let below = size;
  for (let k = 60; k > 0; k--) below = size + k / 2 / below;
  return Math.sign(x) * (1 - bell / below);
}

const erf = (a) => each((x) => errorFunction(x), a);

const relu = (a) => each((x) => Math.max(x, 0), a);

const log = (a) => each(Math.log, a);

const absolute = (a) => each(Math.abs, a);

const atMost1 = (a) => each((x) => Math.min(x, 1), a);

const above0 = (a) => each((x) => +(x > 0), a);

const below1 = (a) => each((x) => +(x < 1), a);

const elu1 = (a) => each((x) => (x >= 0 ? x + 1 : Math.exp(x)), a);

const sigmoid = (a) =>
  each(
    (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x))),
    a,
  );

// Each row (the last axis) made into another row, as wide as it was or of another width.
function rows(x, f, wide = x.shape.at(-1)) {
  const width = x.shape.at(-1);
  const out = array([...x.shape.slice(0, -1), wide]);
  for (let row = 0; row * wide < out.data.length; row++)
    out.data.set(
      f(x.data.subarray(row * width, (row + 1) * width)),
      row * wide,
    );
  return out;
}

// A number of each row.
const ofRows = (f) => (x) => rows(x, (row) => [f(row)], 1);

const rowSum = ofRows((row) => row.reduce((a, b) => a + b, 0));

const rowMax = ofRows((row) => Math.max(...row));

const every = ofRows((row) => +row.every(Boolean));

const some = ofRows((row) => +row.some(Boolean));

const hardmax = (x) =>
  rows(x, (row) => row.map((_, k) => +(k === row.indexOf(Math.max(...row)))));

// Where the largest entries of each row are, so many; of equal ones the first.
function topK(x, count) {
  return rows(x, (row) => {
    const falling = row.map((_, k) => k).sort((a, b) => row[b] - row[a]);
    return row.map((_, k) => +(falling.indexOf(k) < count));
  });
}

const threshold = ofRows((row) => {
  let sum = 0;
  const ranked = Array.from(row).sort((a, b) => b - a);
  return Math.max(...ranked.map((value, k) => ((sum += value) - 1) / (k + 1)));
});

// What is above it, less it and squared, sums to 1 in each row.
const thresholdOfSquares = ofRows((row) => {
  let [sum, squares] = [0, 0];
  const ranked = Array.from(row).sort((a, b) => b - a);
  const levels = ranked.map((value, k) => {
    sum += value;
    squares += value * value;
    const mean = sum / (k + 1);
    return mean - Math.sqrt(Math.max((1 - squares) / (k + 1) + mean * mean, 0));
  });
  return levels[levels.filter((level, k) => level <= ranked[k]).length - 1];
});

function matmul(a, b) {
  const [n, inner] = a.shape.slice(-2);
  const m = b.shape[b.shape.length - 1];
  const lead = together(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const left = broadcast(a, [...lead, n, inner]);
  const right = broadcast(b, [...lead, inner, m]);
  const out = array([...lead, n, m]);
  for (let block = 0; block < count(lead); block++)
    for (let i = 0; i < n; i++)
      for (let j = 0; j < m; j++) {
        let sum = 0;
        for (let l = 0; l < inner; l++)
          sum +=
            left.data[(block * n + i) * inner + l] *
            right.data[(block * inner + l) * m + j];
        out.data[(block * n + i) * m + j] = sum;
      }
  return out;
}

// The inverses of matrices, by elimination with the largest pivots.
function inverse(x) {
  const n = x.shape.at(-1);
  const out = [];
  for (let start = 0; start < x.data.length; start += n * n) {
    const wide = range(0, n, 1).map((i) => [
      ...x.data.slice(start + i * n, start + (i + 1) * n),
      ...range(0, n, 1).map((j) => +(i === j)),
    ]);
    for (let k = 0; k < n; k++) {
      const heights = wide.slice(k).map((row) => Math.abs(row[k]));
      const pivot = k + heights.indexOf(Math.max(...heights));
      [wide[k], wide[pivot]] = [wide[pivot], wide[k]];
      const first = wide[k].map((value) => value / wide[k][k]);
      wide.forEach((row, i) => {
        wide[i] = i === k ? first : row.map((value, j) => value - row[k] * first[j]);
      });
    }
    wide.forEach((row) => out.push(...row.slice(n)));
  }
  return array(x.shape, out);
}

// Two axes exchanged, counted from the back.
function swapped(x, one, other) {
  const order = range(0, x.shape.length, 1);
  const [first, second] = [one + order.length, other + order.length];
  [order[first], order[second]] = [second, first];
  const steps = strides(x, x.shape);
  const out = array(order.map((axis) => x.shape[axis]));
  let place = 0;
  for (const at of indices(out.shape))
    out.data[place++] =
      x.data[at.reduce((sum, i, k) => sum + i * steps[order[k]], 0)];
  return out;
}

const reshape = (x, shape) => array(shape, x.data);

const broadcast = (x, shape) => each((value) => value, x, array(shape));

const transpose = (x) => swapped(x, -1, -2);

function take(x, chosen, axis) {
  const at = axis + x.shape.length;
  const step = count(x.shape.slice(at + 1)),
    size = x.shape[at];
  const shape = x.shape.map((n, k) => (k === at ? chosen.length : n));
  const block = step * chosen.length;
  const out = array(shape);
  for (let k = 0; k < out.data.length; k++)
    out.data[k] =
      x.data[
        Math.floor(k / block) * step * size +
          chosen[Math.floor((k % block) / step)] * step +
          (k % step)
      ];
  return out;
}

const repeat = (x, times, axis) => {
  const size = x.shape[axis + x.shape.length];
  const places = range(0, size * times, 1).map((k) => Math.floor(k / times));
  return take(x, places, axis);
};

// Whole numbers from start to before stop.
const range = (start, stop, step) =>
  Array.from(
    { length: Math.ceil((stop - start) / step) },
    (_, k) => start + k * step,
  );

// A matrix from a rule for its entries, counted from 0.
const tabulate = (rows, columns, entry) =>
  matrix(
    range(0, rows, 1).map((i) => range(0, columns, 1).map((j) => +entry(i, j))),
  );

const identity = (size) => tabulate(size, size, (i, j) => i === j);

const mod = (a, b) => ((a % b) + b) % b;

// Softmax of each row.
function softmax(x) {
  const exps = exponential(subtract(x, rowMax(x)));
  return divide(exps, rowSum(exps));
}

// Softmax of each row beside one more score, the sink's, whose weight is dropped.
function softmaxWithSink(x, sink) {
  const largest = each(Math.max, rowMax(x), sink);
  const exps = exponential(subtract(x, largest));
  return divide(exps, add(rowSum(exps), exponential(subtract(sink, largest))));
}

// Softmax of each row beside one more score, 0, whose weight is dropped.
const softmaxOffByOne = (x) => softmaxWithSink(x, 0);

// Sparsemax of each row (Martins and Astudillo 2016).
function sparsemax(x) {
  const shifted = subtract(x, rowMax(x));
  return relu(subtract(shifted, threshold(shifted)));
}

// Entmax with alpha 1.5 of each row (Peters, Niculae, Martins 2019).
function entmax15(x) {
  const half = each((value) => Math.max(value / 2, -1), subtract(x, rowMax(x)));
  const root = relu(subtract(half, thresholdOfSquares(half)));
  return multiply(root, root);
}

// Column t turned with column t + d/2, for each t, by its angle.
function rotateHalf(x, cos, sin) {
  const width = x.shape.at(-1);
  const first = part(x, 0, width / 2, 1, -1);
  const second = part(x, width / 2, width, 1, -1);
  return join(turned(first, second, cos, sin), -1);
}

// Each pair of neighbouring columns turned by its angle.
function rotatePairs(x, cos, sin) {
  const width = x.shape.at(-1);
  const first = part(x, 0, width, 2, -1);
  const second = part(x, 1, width, 2, -1);
  return interleave(...turned(first, second, cos, sin));
}

const turned = (first, second, cos, sin) => [
  subtract(multiply(first, cos), multiply(second, sin)),
  add(multiply(second, cos), multiply(first, sin)),
];

// Columns in turn: a_1, b_1, a_2, b_2, …
function interleave(a, b) {
  const [wide, narrow] = [a.shape.at(-1), b.shape.at(-1)];
  const places = range(0, wide + narrow, 1).map(
    (k) => Math.floor(k / 2) + (k % 2 ? wide : 0),
  );
  return take(join([a, b], -1), places, -1);
}

// The slope of each head (Press et al. 2021).
function alibiSlopes(heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  const slopes = range(0, power, 1).map(
    (head) => 2 ** ((-8 * (head + 1)) / power),
  );
  const between = range(0, 2 * power, 2).map(
    (head) => 2 ** ((-4 * (head + 1)) / power),
  );
  return [...slopes, ...between.slice(0, heads - power)];
}

// The bucket of an offset j - i, as in T5 (Raffel et al. 2020).
function relativeBucket(offset, buckets, maxDistance, bidirectional) {
  if (bidirectional) {
    const half = buckets / 2; // for each direction
    const earlier = relativeBucket(-Math.abs(offset), half, maxDistance, false);
    return offset > 0 ? half + earlier : earlier;
  }
  const distance = Math.max(-offset, 0);
  const exact = Math.floor(buckets / 2);
  if (distance < exact) return distance;
  const ratio = Math.log(distance / exact) / Math.log(maxDistance / exact);
  // The logarithms may fall just short of a whole number.
  const spaced = exact + Math.floor(ratio * (buckets - exact) + 1e-9);
  return Math.min(spaced, buckets - 1);
}

// The entries of each matrix at the places of rows and columns.
function entries(x, rows, columns) {
  const [n, m] = x.shape.slice(-2);
  const whole = reshape(x, [...x.shape.slice(0, -2), n * m]);
  return chosen(
    whole,
    each((i, j) => i * m + j, rows, columns),
  );
}

// The entries of each row at places along it.
function chosen(x, places) {
  const [width, size] = [x.shape.at(-1), count(places.shape)];
  const out = array([...x.shape.slice(0, -1), ...places.shape]);
  for (let k = 0; k < out.data.length; k++)
    out.data[k] = x.data[Math.floor(k / size) * width + places.data[k % size]];
  return out;
}

// Every step-th slice from start to stop along an axis, counted from the back.
const part = (x, start, stop, step, axis) =>
  take(x, range(start, stop, step), axis);

// The slice at one place of an axis, counted from the back.
function pick(x, place, axis) {
  const one = take(x, [place], axis);
  const at = axis + x.shape.length;
  return reshape(one, [...x.shape.slice(0, at), ...x.shape.slice(at + 1)]);
}

// A new axis, counted from the back.
function expand(x, axis) {
  const at = x.shape.length + 1 + axis;
  return reshape(x, [...x.shape.slice(0, at), 1, ...x.shape.slice(at)]);
}

// The sum over an axis, counted from the back.
const total = (x, axis) =>
  range(0, x.shape.at(axis), 1)
    .map((place) => pick(x, place, axis))
    .reduce((a, b) => add(a, b));

// The heads in groups of equal size.
const groupHeads = (x, groups) =>
  reshape(x, [
    ...x.shape.slice(0, -3),
    groups,
    x.shape.at(-3) / groups,
    ...x.shape.slice(-2),
  ]);

// The rows of each matrix as one.
const inOneRow = (x) =>
  reshape(x, [...x.shape.slice(0, -2), 1, x.shape.at(-2) * x.shape.at(-1)]);

// In each row, the sums of the entries that share a place.
function sumsAt(x, places, size) {
  const width = x.shape.at(-1);
  const at = broadcast(places, x.shape);
  const out = array([...x.shape.slice(0, -1), size]);
  x.data.forEach((value, k) => {
    out.data[Math.floor(k / width) * size + at.data[k]] += value;
  });
  return out;
}

function join(parts, axis) {
  const at = axis + parts[0].shape.length;
  const shape = parts[0].shape.map((n, k) =>
    k === at ? parts.reduce((sum, x) => sum + x.shape[k], 0) : n,
  );
  const out = array(shape);
  const row = count(shape.slice(at));
  let start = 0;
  for (const x of parts) {
    const width = count(x.shape.slice(at));
    for (let block = 0; block * width < x.data.length; block++)
      out.data.set(
        x.data.subarray(block * width, (block + 1) * width),
        block * row + start,
      );
    start += width;
  }
  return out;
}

// The matrices of all tokens, one after another along an axis of their own.
const stack = (parts) =>
  join(
    parts.map((x) => expand(x, -3)),
    -3,
  );

// (..., rows, heads * columns) as (..., heads, rows, columns)
const splitHeads = (x, heads) =>
  swapped(
    reshape(x, [...x.shape.slice(0, -1), heads, x.shape.at(-1) / heads]),
    -2,
    -3,
  );

// (..., heads, rows, columns) as (..., rows, heads * columns)
function mergeHeads(x) {
  const [h, n, d] = x.shape.slice(-3);
  return reshape(swapped(x, -2, -3), [...x.shape.slice(0, -3), n, h * d]);
}
