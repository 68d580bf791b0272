// Certified numbers: an exact rational, or a formula that can be enclosed as closely as is asked.
// What is shown of them is decided as symattn/arithmetic/decide.py does it.
const certified = (() => {
  // Precisions tried, in bits; the last is a bound on effort, not a claim about numbers.
  const BITS = [96, 256, 1024, 4096];
  // Numbers of more terms than this, over one denominator, are not multiplied out.
  const MOST_TERMS = 1500;
  // No larger powers of two than this are handled.
  const HUGE = 2 ** 46;

  // ---- rationals ----

  const abs = (n) => (n < 0n ? -n : n);
  const float = new Float64Array(1), words = new Uint32Array(float.buffer);
  // The length of |n| in bits, or one more.
  const bitLength = (n) => {
    float[0] = Number(n);
    const power = (words[1] >>> 20) & 2047;
    return power === 2047 ? 4 * abs(n).toString(16).length : power && power - 1022;
  };
  const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
  function gcd(a, b) {
    [a, b] = [abs(a), abs(b)];
    while (b > SAFE) [a, b] = [b, a % b];
    if (!b) return a;
    let [x, y] = [Number(b), Number(a % b)];
    while (y) [x, y] = [y, x % y];
    return BigInt(x);
  }
  const ratio = (n, d = 1n) => {
    if (d < 0n) [n, d] = [-n, -d];
    const common = d === 1n ? 1n : gcd(n, d);
    return common === 1n ? { n, d } : { n: n / common, d: d / common };
  };
  const [ZERO, ONE] = [ratio(0n), ratio(1n)];
  const isRational = (x) => x.d !== undefined;
  const plusRational = (a, b) => (a.d === b.d ? (a.d === 1n ? { n: a.n + b.n, d: 1n } : ratio(a.n + b.n, a.d)) : ratio(a.n * b.d + b.n * a.d, a.d * b.d));
  const timesRational = (a, b) => (a.d === 1n && b.d === 1n ? { n: a.n * b.n, d: 1n } : ratio(a.n * b.n, a.d * b.d));
  const compareRational = (a, b) => { const gap = a.n * b.d - b.n * a.d; return gap > 0n ? 1 : gap < 0n ? -1 : 0; };
  const floorDivide = (n, d) => (n % d && n < 0n !== d < 0n ? n / d - 1n : n / d);

  // The whole part of the k-th root.
  function integerRoot(n, k = 2n) {
    if (n < 2n) return n;
    let x = 1n << (BigInt(bitLength(n)) / k + 1n);
    for (;;) {
      const next = ((k - 1n) * x + n / x ** (k - 1n)) / k;
      if (next >= x) return x;
      x = next;
    }
  }

  // ---- numbers: rationals, formulas, −∞, and what has no value or none that is known ----

  const special = (name) => ({ op: name, args: [] });
  const [LOWEST, UNDEFINED, UNKNOWN] = ["-inf", "undefined", "?"].map(special);
  const isSpecial = (x) => x === LOWEST || x === UNDEFINED || x === UNKNOWN;
  const spoilt = (...xs) => (xs.includes(UNDEFINED) ? UNDEFINED : xs.includes(UNKNOWN) ? UNKNOWN : null);
  const node = (op, ...args) => ({ op, args, balls: null, form: undefined, name: 0 }); // one shape for all

  // So many operations may be done; nothing is known of what comes after them.
  let left = Infinity;
  const allow = (operations) => { const spent = left < 0; left = operations; return spent; };

  // A number of the program, or one that is certified already. A float that is no whole number was rounded
  // somewhere, so that nothing is known of it.
  function certain(x) {
    if (typeof x !== "number") return x;
    if (x === -Infinity) return LOWEST;
    return Number.isSafeInteger(x) ? ratio(BigInt(x)) : UNKNOWN;
  }

  function sum(terms) {
    const listed = terms.map(certain);
    const wrong = (left -= terms.length) < 0 ? UNKNOWN : spoilt(...listed);
    if (wrong) return wrong;
    if (listed.includes(LOWEST)) return LOWEST;
    let [n, d] = [0n, 1n]; // reduced where denominators differ, and at the end
    const open = [];
    for (const term of listed) {
      if (!isRational(term)) open.push(term);
      else if (term.d === d) n += term.n;
      else if (term.n) ({ n, d } = plusRational({ n, d }, term));
    }
    const known = ratio(n, d);
    if (known.n || !open.length) open.push(known);
    return open.length === 1 ? open[0] : node("+", ...open);
  }

  function product(first, second) {
    const [a, b] = [certain(first), certain(second)];
    const wrong = --left < 0 ? UNKNOWN : spoilt(a, b);
    if (wrong) return wrong;
    if (a === LOWEST || b === LOWEST) {
      const other = a === LOWEST ? b : a;
      return other === LOWEST ? UNDEFINED : sign(other) === 1 ? LOWEST : UNDEFINED;
    }
    if (isRational(a) && isRational(b)) return timesRational(a, b);
    for (const [one, other] of [[a, b], [b, a]]) {
      if (!isRational(one)) continue;
      if (!one.n) return ZERO;
      if (one.n === one.d) return other;
    }
    return node("*", a, b);
  }

  function quotient(above, below) {
    const [a, b] = [certain(above), certain(below)];
    const wrong = spoilt(a, b);
    if (wrong) return wrong;
    if (isRational(b)) return b.n ? product(a, ratio(b.d, b.n)) : UNDEFINED;
    const side = b === LOWEST ? null : sign(b);
    if (side === 0) return UNDEFINED;
    if (side === null) return UNKNOWN;
    if (a === LOWEST) return side > 0 ? LOWEST : UNDEFINED;
    return isRational(a) && !a.n ? ZERO : node("/", a, b);
  }

  const negative = (x) => product(-1, x);
  const minus = (a, b) => sum([a, negative(b)]);

  function sqrt(number) {
    let x = certain(number);
    if (x === LOWEST) return UNDEFINED;
    if (isSpecial(x)) return x;
    x = timesOf(x, ONE_TERM) ?? x; // of √2 √2 the 2
    if (!isRational(x)) {
      const side = sign(x);
      return side === null ? UNKNOWN : side < 0 ? UNDEFINED : side === 0 ? ZERO : node("√", x);
    }
    if (x.n < 0n) return UNDEFINED;
    let [left, out] = [x.n * x.d, 1n]; // √(n/d) = √(n d)/d
    for (let p = 2n; p < 400n && p * p <= left; p += p === 2n ? 1n : 2n)
      while (left % (p * p) === 0n) { left /= p * p; out *= p; }
    const root = integerRoot(left);
    if (root * root === left) [left, out] = [1n, out * root];
    const factor = ratio(out, x.d);
    return left === 1n ? factor : product(factor, node("√", ratio(left)));
  }

  // base^(above/below) of a positive rational.
  function power(base, above, below) {
    const x = certain(base);
    if (!isRational(x) || x.n <= 0n || !Number.isSafeInteger(above) || !Number.isSafeInteger(below)) return UNKNOWN;
    const common = Number(gcd(BigInt(above), BigInt(below))) || 1;
    let [p, q] = [above / common, below / common];
    const whole = p < 0 ? ratio(x.d ** BigInt(-p), x.n ** BigInt(-p)) : ratio(x.n ** BigInt(p), x.d ** BigInt(p));
    const roots = [whole.n, whole.d].map((n) => integerRoot(n, BigInt(q)));
    if (roots[0] ** BigInt(q) === whole.n && roots[1] ** BigInt(q) === whole.d) return ratio(...roots);
    if (q % 2 === 0) {
      return sqrt(power(x, p, q / 2));
    }
    return node("exp", product(ratio(BigInt(p), BigInt(q)), node("ln", x)));
  }

  // A function that is odd or even is taken of |x|, so that equal values have equal formulas.
  const DEFINED = {
    exp: { at0: ONE }, tanh: { at0: ZERO, odd: true }, sin: { at0: ZERO, odd: true }, cos: { at0: ONE, even: true },
    erf: { at0: ZERO, odd: true },
  };
  const applied = (op) => (number) => {
    const x = certain(number);
    if (x === LOWEST) return op === "exp" ? ZERO : op === "tanh" || op === "erf" ? ratio(-1n) : UNDEFINED;
    if (isSpecial(x)) return x;
    const { at0, odd, even } = DEFINED[op];
    if (isRational(x)) {
      if (!x.n) return at0;
      if (x.n < 0n && (odd || even)) {
        const mirrored = node(op, ratio(-x.n, x.d));
        return odd ? negative(mirrored) : mirrored;
      }
    }
    return onCircle(op, x) ?? node(op, x);
  };

  // sin and cos of k π/12, as roots; null for other functions and numbers.
  function onCircle(op, x) {
    const turn = (op === "sin" || op === "cos") && !isRational(x) ? overPi(x) : null;
    if (!turn || 12n % turn.d) return null;
    const at = (Number((turn.n * (12n / turn.d)) % 24n) + (op === "cos" ? 6 : 0) + 24) % 24;
    const n = Math.min(at % 12, 12 - (at % 12));
    const size = n % 6 === 1 || n % 6 === 5 ? quotient(sum([sqrt(6), product(n === 1 ? -1 : 1, sqrt(2))]), 4) : quotient(sqrt([0, 0, 1, 2, 3, 0, 4][n]), 2);
    return at < 12 ? size : negative(size);
  }

  const [exp, tanh, sin, cos, erf] = ["exp", "tanh", "sin", "cos", "erf"].map(applied);

  function ln(number) {
    const x = certain(number);
    if (isSpecial(x)) return x === LOWEST ? UNDEFINED : x;
    const side = sign(x);
    if (side === null) return UNKNOWN;
    if (side <= 0) return side < 0 ? UNDEFINED : LOWEST;
    return isRational(x) && x.n === x.d ? ZERO : node("ln", x);
  }

  function sigmoid(x) {
    if (x === UNDEFINED || x === UNKNOWN) return x;
    const small = exp(sign(x) === 1 ? negative(x) : x);
    return quotient(sign(x) === 1 ? 1 : small, sum([1, small]));
  }

  // What e^x is a share of: the sum of all e^y, each over the power of about the largest y.
  function together(row) {
    const size = (x) => { const value = enclose(x, BITS[0]); return value ? Number(value.m) * 2 ** value.e : NaN; };
    const floats = row.map((x) => (isSpecial(x) ? -Infinity : size(x)));
    const largest = row[floats.indexOf(Math.max(...floats))];
    const most = largest === undefined || isSpecial(largest) ? ZERO : largest;
    return { most, sum: sum(row.map((x) => exp(minus(x, most)))) };
  }

  // ---- balls: every number between (m − r)·2^e and (m + r)·2^e; null where nothing is known ----

  const [POINT, UNIT] = [0n, 1n].map((m) => ({ m, r: 0n, e: 0 }));
  const shifted = (n, by) => (by >= 0 ? n << BigInt(by) : n >> BigInt(-by));

  function ball(m, r, e, bits) {
    if (!Number.isFinite(e) || Math.abs(e) > HUGE) return null;
    const surplus = Math.max(bitLength(m) - bits, bitLength(r) - 30);
    if (surplus <= 0) return { m, r, e };
    const by = BigInt(surplus);
    return { m: m >> by, r: (r >> by) + 2n, e: e + surplus };
  }

  function ofRational({ n, d }, bits) {
    if (d === 1n) return ball(n, 0n, 0, bits);
    const up = Math.max(bits + bitLength(d) - bitLength(n) + 2, 0);
    return ball((n << BigInt(up)) / d, 1n, -up, bits);
  }

  const top = (x) => bitLength(abs(x.m) + x.r) + x.e; // |x| ≤ 2^top

  function plus(a, b, bits) {
    if (!a || !b) return null;
    if (!a.m && !a.r) return b;
    if (!b.m && !b.r) return a;
    const least = Math.max(Math.min(a.e, b.e), Math.max(top(a), top(b)) - bits - 40);
    const [one, other] = [a, b].map(({ m, r, e }) => {
      if (e >= least) return [m << BigInt(e - least), r << BigInt(e - least)];
      const by = BigInt(Math.min(least - e, 2 ** 30));
      return [m >> by, (r >> by) + 2n];
    });
    return ball(one[0] + other[0], one[1] + other[1], least, bits);
  }

  function times(a, b, bits) {
    if (!a || !b) return null;
    return ball(a.m * b.m, abs(a.m) * b.r + abs(b.m) * a.r + a.r * b.r, a.e + b.e, bits);
  }

  // |a/b − a'/b'| ≤ (|b| r_a + |a| r_b)/(|b| (|b| − r_b)) of the midpoints a and b.
  function over(a, b, bits) {
    if (!a || !b || abs(b.m) <= b.r) return null;
    const up = BigInt(Math.max(bits + bitLength(b.m) - bitLength(a.m) + 2, 0));
    const size = abs(b.m);
    const error = ((size * a.r + abs(a.m) * b.r) << up) / (size * (size - b.r)) + 2n;
    return ball((a.m << up) / b.m, error, a.e - Number(up) - b.e, bits);
  }

  const minusBall = (x) => x && { ...x, m: -x.m };
  const signOf = (x) => (!x ? null : x.m > x.r ? 1 : -x.m > x.r ? -1 : x.m || x.r ? null : 0);

  // The ball from the low end of one ball to the high end of another.
  function between(low, high, bits) {
    if (!low || !high) return null;
    const e = Math.min(low.e, high.e);
    if (Math.max(low.e, high.e) - e > 2 ** 20) return null;
    const [from, to] = [(low.m - low.r) << BigInt(low.e - e), (high.m + high.r) << BigInt(high.e - e)];
    return ball(from + to, to - from + 1n, e - 1, bits);
  }

  function sqrtBall(x, bits) {
    if (!x || x.m + x.r < 0n) return null;
    const up = Math.max(2 * bits - bitLength(x.m) + 4, 0);
    const even = up + ((x.e - up) % 2 === 0 ? 0 : 1);
    const [low, high] = [x.m - x.r, x.m + x.r].map((n) => integerRoot((n < 0n ? 0n : n) << BigInt(even)));
    const e = (x.e - even) / 2;
    return ball(low + high + 1n, high - low + 2n, e - 1, bits);
  }

  // ln 2 and π as whole numbers of 2^−bits, at most 3 too small, each computed once for so many bits.
  const inverseTangents = (parts, alternating) => {
    let [known, value] = [0, 0n];
    return (bits) => {
      if (bits > known) {
        known = Math.max(bits, 2 * known);
        const one = 1n << BigInt(known + 32);
        value = 0n;
        for (const [factor, x] of parts) {
          let [power, k] = [one / x, 1n];
          for (; power; k += 2n, power /= x * x) value += (factor * (alternating && k % 4n === 3n ? -power : power)) / k;
        }
        value = (value - (1n << 24n)) >> 32n;
      }
      return value >> BigInt(known - bits);
    };
  };
  const ln2 = inverseTangents([[18n, 26n], [-2n, 4801n], [8n, 8749n]], false);
  const pi = inverseTangents([[16n, 5n], [-4n, 239n]], true);

  // The midpoint over `unit` (ln 2 or π/2, given to so many bits) as a whole number and a rest in units of 2^−bits,
  // from 0 to one unit and wrong by at most 4; null where that is too large.
  function reduced(x, bits, unit) {
    const size = bitLength(x.m) + x.e;
    if (size > 1100) return null;
    const deep = bits + Math.max(size, 0) + 8;
    const mid = shifted(x.m, x.e + deep);
    const whole = floorDivide(mid, unit(deep));
    return [whole, (mid - whole * unit(deep)) >> BigInt(deep - bits)];
  }

  // Of a function that rises its ball over a wide one, by the ends of that.
  const isWide = (x) => x.r && bitLength(x.r) + x.e > -2;
  const risen = (of, { m, r, e }, bits) => between(...[m - r, m + r].map((end) => of({ m: end, r: 0n, e }, bits)), bits);

  function expBall(x, bits) {
    if (!x) return null;
    if (isWide(x)) return risen(expBall, x, bits);
    const halvings = Math.ceil(Math.sqrt(bits) / 2);
    const w = bits + halvings + 40;
    if (x.m < 0n && bitLength(x.m) + x.e > 40) return { m: 1n, r: 1n, e: -(2 ** 40) };
    const found = reduced(x, w, ln2);
    if (!found) return null;
    const [k, rest] = found;
    const scale = BigInt(w);
    const small = rest >> BigInt(halvings);
    let [total, term, count] = [1n << scale, 1n << scale, 0n];
    for (let j = 1n; term; j++, count++) { term = ((term * small) >> scale) / j; total += term; }
    for (let j = 0; j < halvings; j++) total = (total * total) >> scale;
    // Each term is wrong by at most 10 units and each squaring at most doubles that (times e^(x/2^j), 2 in all).
    const error = (10n * (count + 4n)) << BigInt(halvings + 2);
    const out = ball(total, error, Number(k) - w, bits);
    if (!x.r) return out;
    return times(out, plus(UNIT, { m: 0n, r: 2n * x.r, e: x.e }, bits), bits); // e^r ≤ 1 + 2r
  }

  function turnBall(x, bits, quarter) {
    if (!x) return null;
    const all = { m: 0n, r: 1n, e: 0 };
    if (bitLength(x.r) + x.e > 1) return all;
    const w = bits + 40 + Math.max(0, -Math.max(bitLength(x.m) + x.e, -4 * bits));
    const found = reduced(x, w, (deep) => pi(deep - 1));
    if (!found) return null;
    const [k, t] = found;
    const scale = BigInt(w);
    let [sine, cosine, term, count] = [0n, 0n, 1n << scale, 0n];
    for (let j = 1n; term; j++, count++) {
      const kept = j % 4n > 2n || j % 4n === 0n ? -term : term; // 1, x, −x²/2, −x³/6, …
      if (j % 2n) cosine += kept; else sine += kept;
      term = ((term * t) >> scale) / j;
    }
    const turned = (((k + BigInt(quarter)) % 4n) + 4n) % 4n;
    const value = [sine, cosine, -sine, -cosine][Number(turned)];
    const out = ball(value, 40n * (count + 4n), -w, bits);
    return x.r ? plus(out, { m: 0n, r: x.r, e: x.e }, bits) : out; // |sin′| ≤ 1
  }

  // y near ln x by floats and Newton's steps, and then ln x = y + ln(1 + δ), δ = x e^−y − 1, |ln(1 + δ)| ≤ 2|δ|.
  function lnBall(x, bits) {
    if (!x || x.m <= x.r) return null;
    const length = bitLength(x.m);
    const lead = Number(shifted(x.m, 60 - length)) / 2 ** 60;
    const start = Math.log(lead) + (x.e + length) * Math.LN2;
    let y = { m: BigInt(Math.round(start * 2 ** 40)), r: 0n, e: -40 };
    for (let good = 30; ; good *= 2) {
      const p = Math.min(2 * good, bits) + 32;
      const off = plus(times(x, expBall(minusBall(y), p), p), minusBall(UNIT), p);
      if (!off) return null;
      const far = abs(off.m) + off.r;
      if (good >= bits) {
        const e = off.e;
        return bitLength(far) + e > -2 ? null : plus(y, { m: 0n, r: 2n * far, e }, bits);
      }
      const next = plus(y, { ...off, r: 0n }, p);
      y = { ...next, r: 0n };
    }
  }

  function tanhBall(x, bits) {
    if (!x) return null;
    const size = top(x);
    if (size < -bits) return plus(x, { m: 0n, r: 1n, e: 3 * size }, bits); // |tanh x − x| ≤ |x|³
    if (x.m < 0n) return minusBall(tanhBall(minusBall(x), bits));
    if (isWide(x)) return risen(tanhBall, x, bits);
    if (size > 20) return plus(UNIT, { m: 0n, r: 1n, e: -2 * bits }, 2 * bits); // 1 − tanh x ≤ 2 e^(−2x)
    const p = bits + Math.max(0, -size) + 8;
    const above1 = plus(expBall({ ...x, e: x.e + 1 }, p), UNIT, p);
    return plus(UNIT, over({ m: -2n, r: 0n, e: 0 }, above1, p), p); // 1 − 2/(e^2x + 1)
  }

  // (2/√π) e^(−x²) Σ 2^k x^(2k+1)/(1·3·5⋯(2k+1)), whose terms are positive; 1 − erf x ≤ e^(−x²).
  function erfBall(x, bits) {
    if (!x) return null;
    if (x.m < 0n) return minusBall(erfBall(minusBall(x), bits));
    const around = { m: 0n, r: 2n * x.r, e: x.e }; // erf′ ≤ 2
    if (!x.m) return around;
    const mid = { m: x.m, r: 0n, e: x.e };
    const square = times(mid, mid, bits + 32);
    const small = expBall(minusBall(square), bits);
    if (!small) return { m: 0n, r: 1n, e: 0 };
    if (top(small) < -bits) return plus(plus(UNIT, { m: 0n, r: 1n, e: top(small) }, bits), around, bits);
    const p = bits + 32;
    const twice = { ...square, e: square.e + 1 };
    let [term, total] = [mid, mid];
    for (let k = 3n; ; k += 2n) {
      term = over(times(term, twice, p), { m: k, r: 0n, e: 0 }, p);
      total = plus(total, term, p);
      if (top(term) < top(total) - p && top(twice) < bitLength(k) - 2) break;
    }
    total = plus(total, { m: 0n, r: 2n * (abs(term.m) + term.r), e: term.e }, p);
    const root = sqrtBall({ m: pi(p), r: 3n, e: -p }, p);
    const value = over(times({ ...total, e: total.e + 1 }, expBall(minusBall(square), p), p), root, p);
    return plus(value, around, bits);
  }

  const FUNCTIONS = {
    "√": sqrtBall, exp: expBall, ln: lnBall, tanh: tanhBall, erf: erfBall,
    sin: (x, bits) => turnBall(x, bits, 0), cos: (x, bits) => turnBall(x, bits, 1),
  };

  function enclose(x, bits) {
    if (isRational(x)) return ofRational(x, bits);
    if (isSpecial(x)) return null;
    const known = (x.balls ??= new Map()).get(bits);
    if (known !== undefined) return known;
    const args = x.args.map((part) => enclose(part, bits));
    let out = null;
    const size = args[0] && "exp sin cos".includes(x.op) ? top(args[0]) : 0;
    if (size > 8 && size < 2000) args[0] = enclose(x.args[0], bits + 64 * Math.ceil(size / 64)); // |x| costs its bits
    if (x.op === "+") out = args.reduce((a, b) => plus(a, b, bits), POINT);
    else if (x.op === "*") out = times(...args, bits);
    else if (x.op === "/") out = over(...args, bits);
    else if (x.op === "π") out = { m: pi(bits), r: 3n, e: -bits };
    else out = FUNCTIONS[x.op](args[0], bits);
    x.balls.set(bits, out);
    return out;
  }

  // ---- exact forms: Σ c √k e^a cos b · … over products of such sums ----
  //
  // A term is a rational c, a whole number k without square factors, an exponent a and an angle b (sums
  // themselves), and powers of what is not taken apart. If no term is left of a sum, it is 0.

  let named = 0;
  const polynomial = (terms) => ({ terms, key: undefined });
  const keyOf = (sums) => (sums.key ??= [...sums.terms].map(([key, { c }]) => `${c.n}/${c.d}*${key}`).sort().join("+"));
  const termKey = ({ root, power, turn, angle, atoms }) =>
    `[${root}|${keyOf(power)}|${turn}${turn ? keyOf(angle) : ""}|${atoms.map(([key, k]) => `${key}^${k}`).join(" ")}]`;
  const NOTHING = polynomial(new Map());
  const PLAIN = { c: ONE, root: 1n, power: NOTHING, turn: "", angle: NOTHING, atoms: [] };

  function collected(listed) {
    const terms = new Map();
    for (const term of listed) {
      const key = termKey(term);
      const before = terms.get(key);
      const c = before ? plusRational(before.c, term.c) : term.c;
      if (c.n) terms.set(key, { ...term, c }); else terms.delete(key);
    }
    return polynomial(terms);
  }

  const single = (parts) => collected([{ ...PLAIN, ...parts }]);
  const scaledSum = (sums, factor) => collected([...sums.terms.values()].map((t) => ({ ...t, c: timesRational(t.c, factor) })));
  const addSums = (...all) => collected(all.flatMap((sums) => [...sums.terms.values()]));

  // The angle with the sign that makes its first term positive, and that sign.
  function oriented(angle) {
    const keys = [...angle.terms.keys()].sort();
    const side = keys.length && angle.terms.get(keys[0]).c.n < 0n ? -1n : 1n;
    return [side < 0n ? scaledSum(angle, ratio(-1n)) : angle, side];
  }

  function turned(term, turn, angle, factor) {
    const [positive, side] = oriented(angle);
    if (!positive.terms.size) return turn === "cos" ? [{ ...term, turn: "", angle: NOTHING, c: timesRational(term.c, factor) }] : [];
    const c = timesRational(term.c, turn === "sin" ? timesRational(factor, ratio(side)) : factor);
    return [{ ...term, turn, angle: positive, c }];
  }

  function timesTerm(a, b) {
    const common = gcd(a.root, b.root);
    const atoms = new Map(a.atoms.map(([key, k, x]) => [key, [key, k, x]]));
    for (const [key, k, x] of b.atoms) atoms.set(key, [key, k + (atoms.get(key)?.[1] ?? 0), x]);
    const term = {
      c: timesRational(timesRational(a.c, b.c), ratio(common)),
      root: (a.root / common) * (b.root / common),
      power: a.power.terms.size && b.power.terms.size ? addSums(a.power, b.power) : a.power.terms.size ? a.power : b.power,
      turn: a.turn || b.turn, angle: a.turn ? a.angle : b.angle,
      atoms: [...atoms.values()].sort((one, other) => (one[0] < other[0] ? -1 : 1)),
    };
    if (!a.turn || !b.turn) return [term];
    const [less, more] = [addSums(a.angle, scaledSum(b.angle, ratio(-1n))), addSums(a.angle, b.angle)];
    const half = ratio(1n, 2n), minusHalf = ratio(-1n, 2n);
    switch (`${a.turn} ${b.turn}`) {
      case "cos cos": return [...turned(term, "cos", less, half), ...turned(term, "cos", more, half)];
      case "sin sin": return [...turned(term, "cos", less, half), ...turned(term, "cos", more, minusHalf)];
      case "sin cos": return [...turned(term, "sin", more, half), ...turned(term, "sin", less, half)];
      default: return [...turned(term, "sin", more, half), ...turned(term, "sin", less, minusHalf)];
    }
  }

  function multiplySums(a, b) {
    if (!a || !b || a.terms.size * b.terms.size > MOST_TERMS) return null;
    const listed = [];
    for (const one of a.terms.values()) for (const other of b.terms.values()) listed.push(...timesTerm(one, other));
    return collected(listed);
  }

  // A form is a sum over a product of powers of sums, { above, below: key → [sum, power] }.
  const whole = (sums) => ({ above: sums, below: new Map() });

  function raised(sums, k) {
    let out = single({});
    for (let j = 0; j < k && out; j++) out = multiplySums(out, sums);
    return out;
  }

  function overCommon(forms) {
    const below = new Map();
    for (const form of forms)
      for (const [key, [sums, k]] of form.below) below.set(key, [sums, Math.max(k, below.get(key)?.[1] ?? 0)]);
    const above = [];
    for (const form of forms) {
      let part = form.above;
      for (const [key, [sums, k]] of below) {
        const missing = k - (form.below.get(key)?.[1] ?? 0);
        if (missing) part = multiplySums(part, raised(sums, missing));
        if (!part) return null;
      }
      above.push(part);
    }
    if (above.reduce((n, part) => n + part.terms.size, 0) > MOST_TERMS) return null;
    return { above: addSums(...above), below };
  }

  function timesForms(a, b) {
    const above = multiplySums(a.above, b.above);
    if (!above) return null;
    const below = new Map(a.below);
    for (const [key, [sums, k]] of b.below) below.set(key, [sums, k + (below.get(key)?.[1] ?? 0)]);
    return { above, below };
  }

  function inverseForm(form) {
    const terms = [...form.above.terms.values()];
    if (!terms.length) return null;
    let above = single({});
    for (const [sums, k] of form.below.values()) above = multiplySums(above, raised(sums, k));
    if (!above) return null;
    const [first] = terms;
    if (terms.length === 1 && !first.turn && !first.atoms.length) {
      const c = ratio(first.c.d, first.c.n * first.root); // 1/(c √k e^a) = √k e^−a/(c k)
      return whole(multiplySums(above, single({ c, root: first.root, power: scaledSum(first.power, ratio(-1n)) })));
    }
    const lead = form.above.terms.get([...form.above.terms.keys()].sort()[0]).c;
    const monic = scaledSum(form.above, ratio(lead.d, lead.n));
    return { above: scaledSum(above, ratio(lead.d, lead.n)), below: new Map([[keyOf(monic), [monic, 1]]]) };
  }

  const atom = (key, x) => single({ atoms: [[key, 1, x]] });
  const [PI_TERM, ONE_TERM] = [atom("π", null), single({})].map((sums) => [...sums.terms.keys()][0]);

  // What stands in an exponent, an angle, or a function: one sum.
  function argument(x) {
    const form = formOf(x);
    if (!form) return atom(`#${(x.name ||= ++named)}`, x);
    if (!form.below.size) return form.above;
    const below = [...form.below].map(([key, [, k]]) => `(${key})^${k}`).sort().join("");
    return atom(`{${keyOf(form.above)}}/{${below}}`, x);
  }

  function formOf(x) {
    if (isRational(x)) return whole(x.n ? single({ c: x }) : NOTHING);
    if (x.form === undefined) x.form = exactForm(x);
    return x.form;
  }

  function exactForm(x) {
    if (isSpecial(x)) return null;
    const [a, b] = x.args;
    switch (x.op) {
      case "+": { const parts = x.args.map(formOf); return parts.includes(null) ? null : overCommon(parts); }
      case "*": { const [one, other] = [formOf(a), formOf(b)]; return one && other && timesForms(one, other); }
      case "/": {
        const [one, other] = [formOf(a), formOf(b)];
        const inverse = one && other && inverseForm(other);
        return inverse && timesForms(one, inverse);
      }
      case "π": return whole(atom("π", x));
      case "exp": return whole(single({ power: argument(a) }));
      case "sin": case "cos": return whole(collected(turned(PLAIN, x.op, argument(a), ONE)));
      case "√": if (isRational(a) && a.d === 1n) return whole(single({ root: a.n }));
    }
    const [inside, side] = x.op === "tanh" || x.op === "erf" ? oriented(argument(a)) : [argument(a), 1n];
    if (!inside.terms.size && side > 0n && x.op !== "ln") return whole(NOTHING); // tanh 0, erf 0, √0
    const positive = side < 0n ? node(x.op, negative(a)) : x;
    return whole(scaledSum(atom(`${x.op}{${keyOf(inside)}}`, positive), ratio(side)));
  }

  // The rational c of a number that is c times this term; null for any other number.
  function timesOf(x, term) {
    const form = formOf(x);
    if (!form || form.below.size || form.above.terms.size > 1) return null;
    if (!form.above.terms.size) return ZERO;
    const [[key, { c }]] = form.above.terms;
    return key === term ? c : null;
  }
  const overPi = (x) => timesOf(x, PI_TERM);

  // A ball of a sum of terms.
  function encloseSum(sums, bits) {
    let total = POINT;
    for (const { c, root, power, turn, angle, atoms } of sums.terms.values()) {
      let part = ofRational(c, bits);
      if (root !== 1n) part = times(part, sqrtBall(ofRational(ratio(root), bits), bits), bits);
      if (power.terms.size) part = times(part, expBall(encloseSum(power, bits), bits), bits);
      if (turn) part = times(part, FUNCTIONS[turn](encloseSum(angle, bits), bits), bits);
      for (const [, k, x] of atoms) for (let j = 0; j < k; j++) part = times(part, enclose(x, bits), bits);
      total = plus(total, part, bits);
    }
    return total;
  }

  function signOfSum(sums) {
    if (!sums.terms.size) return 0;
    for (const bits of BITS.slice(0, 3)) {
      const side = signOf(encloseSum(sums, bits));
      if (side) return side;
    }
    return null;
  }

  // −1, 0 or 1 as the number is below, equal to or above a rational, by its exact form; null where that does not tell.
  function side(x, number) {
    const form = formOf(x);
    if (!form) return null;
    const gap = overCommon([form, whole(number.n ? single({ c: ratio(-number.n, number.d) }) : NOTHING)]);
    if (!gap) return null;
    let out = signOfSum(gap.above);
    for (const [sums, k] of gap.below.values()) {
      if (!out) return out;
      const below = signOfSum(sums);
      out = below ? out * (k % 2 ? below : 1) : null;
    }
    return out;
  }

  // The sign of a number, null where it is not known.
  function sign(x) {
    if (x === LOWEST) return -1;
    if (isSpecial(x)) return null;
    if (isRational(x)) return x.n > 0n ? 1 : x.n < 0n ? -1 : 0;
    for (const [k, bits] of BITS.entries()) {
      const found = signOf(enclose(x, bits));
      if (found !== null) return found;
      const exact = k === 0 ? side(x, ZERO) : null;
      if (exact !== null) return exact;
    }
    return null;
  }

  // −1, 0 or 1 as a is below, equal to or above b; null where that is not known.
  function order(first, second) {
    const [a, b] = [certain(first), certain(second)];
    if (spoilt(a, b)) return null;
    if (a === LOWEST || b === LOWEST) return a === b ? 0 : a === LOWEST ? -1 : 1;
    if (isRational(a) && isRational(b)) return compareRational(a, b);
    return a === b ? 0 : sign(minus(a, b));
  }

  // ---- comparisons in a row: what is not known of them is not known of the result ----

  const ordered = (a, b, choose) => { const found = order(a, b); return found === null ? UNKNOWN : choose(found); };
  const larger = (a, b) => ordered(a, b, (found) => (found < 0 ? b : a));
  const largest = (row) => row.reduce(larger, LOWEST);

  // 1 at the first largest number, 0 elsewhere.
  function firstLargest(row) {
    const highest = largest(row);
    const found = row.map((x) => order(x, highest));
    return found.includes(null) ? row.map(() => UNKNOWN) : row.map((_, k) => +(highest !== LOWEST && k === found.indexOf(0)));
  }

  // The τ with Σ max(0, x − τ) = 1: the largest (x_1 + … + x_k − 1)/k of the numbers in falling order; 0 of −∞ alone.
  function threshold(row) {
    let known = true;
    const ranked = row.filter((x) => x !== LOWEST).sort((a, b) => {
      const found = order(b, a);
      known &&= found !== null;
      return found ?? 0;
    });
    if (!known) return UNKNOWN;
    return !ranked.length ? ZERO : largest(ranked.map((_, k) => quotient(sum([...ranked.slice(0, k + 1), -1]), k + 1)));
  }

  // The τ with Σ max(0, x − τ)² = 1: M − √((1 − S)/k) with the mean M of the k largest and the sum S of their squared
  // distances from it, for the largest k whose numbers are all at least their τ; 0 of −∞ alone.
  function thresholdOfSquares(row) {
    let [known, found] = [true, ZERO];
    const below = (a, b) => { const which = order(a, b); known &&= which !== null; return which === null || which < 0; };
    const ranked = row.filter((x) => x !== LOWEST).sort((a, b) => (below(b, a) ? -1 : order(a, b) === 0 ? 0 : 1));
    for (const [k, x] of ranked.entries()) {
      const first = ranked.slice(0, k + 1);
      const mean = quotient(sum(first), k + 1);
      const apart = first.map((one) => minus(one, mean));
      const left = quotient(sum([1, ...apart.map((one) => negative(product(one, one)))]), k + 1);
      if (below(left, 0)) break;
      const level = minus(mean, sqrt(left));
      if (below(x, level)) break;
      found = level;
    }
    return known ? found : UNKNOWN;
  }

  // ---- what is shown ----

  const LONG = 16; // from this many digits before the point on, a power of ten is written
  const ten = (places) => (places >= 0 ? ratio(10n ** BigInt(places)) : ratio(1n, 10n ** BigInt(-places)));

  function fixed(units, digits) {
    const body = String(abs(units)).padStart(digits + 1, "0");
    const point = body.length - digits;
    return `${units < 0n ? "-" : ""}${body.slice(0, point)}${digits ? `.${body.slice(point)}` : ""}`;
  }

  function digitsOf(units, digits, size, exact) {
    const text = fixed(units, digits);
    const short = exact && digits ? text.replace(/\.?0+$/, "") : text;
    return { text: size ? `${short}e${size}` : short, exact, proven: true };
  }

  // The power of ten of the leading digit of a rational that is not 0.
  function magnitude({ n, d }) {
    let size = Math.floor((bitLength(n) - bitLength(d)) * Math.log10(2)) - 1;
    while (compareRational({ n: abs(n), d }, ten(size + 1)) >= 0) size++;
    return size;
  }

  // Rounds the numbers from low to high; `known` says on which side of a rational the value lies. With `deep`, what
  // cannot be told from a decimal is not said to be that decimal.
  function attempt(low, high, known, digits, rounding, long, deep = false) {
    const rounded = (places) => {
      const [first, last] = [low, high].map((x) => {
        const [n, d] = places < 0 ? [x.n, x.d * 10n ** BigInt(-places)] : [x.n * 10n ** BigInt(places), x.d];
        return [floorDivide(2n * n + d, 2n * d), (2n * n + d) % (2n * d) === 0n];
      });
      if (first[0] === last[0] && !first[1]) return last[0];
      if (last[0] - first[0] > 1n || (last[0] > first[0] && first[1])) return null;
      const units = last[0]; // the tie is at units − 1/2
      const at = known(timesRational(ratio(2n * units - 1n, 2n), ten(-places)));
      if (at === null) return null;
      if (at) return at > 0 ? units : units - 1n;
      if (rounding === "half-even") return units % 2n ? units - 1n : units;
      return 2n * units - 1n > 0n ? units : units - 1n;
    };
    const isSigned = low.n > 0n || high.n < 0n;
    let size = isSigned ? magnitude(low.n > 0n ? low : { n: -high.n, d: high.d }) : 0;
    if (size < long) size = 0;
    let units = rounded(digits - size);
    if (units === null) return null;
    if (size && abs(units) >= 10n ** BigInt(digits + 1)) units = rounded(digits - ++size);
    if (units === null) return null;
    const decimal = timesRational(ratio(units), ten(size - digits));
    const inside = compareRational(low, decimal) <= 0 && compareRational(decimal, high) <= 0;
    const at = inside ? known(decimal) : 1;
    return at === null && !deep ? null : digitsOf(units, digits, size, at === 0);
  }

  // Where the exponent is astronomical: the mantissa x/10^size, 10^size being a ball.
  function scientific(x, digits, bits, size) {
    const p = bits + 64;
    let [scale, factor] = [UNIT, { m: 10n, r: 0n, e: 0 }];
    for (let k = size; k; k = Math.floor(k / 2)) {
      if (k % 2) scale = times(scale, factor, p);
      factor = times(factor, factor, p);
    }
    const mantissa = over(x, scale, p);
    if (!mantissa) return null;
    const [low, high] = dyadicEnds(mantissa);
    const [first, last] = [low, high].map(({ n, d }) => floorDivide(2n * abs(n) * 10n ** BigInt(digits) + d, 2n * d));
    if (first !== last) return null;
    const least = 10n ** BigInt(digits);
    if (first < least) return scientific(x, digits, bits, size - 1);
    if (first >= 10n * least) return scientific(x, digits, bits, size + 1);
    return digitsOf(x.m < 0n ? -first : first, digits, size, false);
  }

  const dyadicEnds = ({ m, r, e }) =>
    [m - r, m + r].map((n) => (e >= 0 ? ratio(n << BigInt(e)) : { n, d: 1n << BigInt(-e) }));

  // The value to so many decimals: its text, whether that is the exact value, whether it is proven.
  function shown(number, digits, rounding = "half-up", long = LONG) {
    const x = certain(number);
    if (x === LOWEST) return { text: "-inf", exact: true, proven: true };
    if (isSpecial(x)) return { text: x.op, exact: false, proven: x === UNDEFINED };
    if (isRational(x)) return attempt(x, x, (number) => compareRational(x, number), digits, rounding, long);
    let last = null;
    for (const [k, bits] of BITS.entries()) {
      const value = enclose(x, bits);
      if (!value) continue;
      last = value;
      if (top(value) < -16000) { // all decimals are zeros; the ball may hold 0 itself
        const at = signOf(value) ?? side(x, ZERO);
        if (at === null && k < 2) continue;
        return digitsOf(0n, digits, 0, at === 0);
      }
      if (top(value) > 16600) {
        const size = Math.floor((bitLength(value.m) + value.e) * Math.log10(2));
        const found = abs(value.m) > 2n * value.r ? scientific(value, digits, bits, size) : null;
        if (found) return found;
        continue;
      }
      const found = attempt(...dyadicEnds(value), (number) => side(x, number), digits, rounding, long, k > 1);
      if (found) return found;
    }
    if (!last || top(last) > 400) return { text: "?", exact: false, proven: false };
    const [low] = dyadicEnds({ ...last, r: 0n });
    const { n, d } = timesRational(low, ten(digits));
    return { text: `${fixed(floorDivide(2n * n + d, 2n * d), digits)}?`, exact: false, proven: false };
  }

  // ---- numbers in and out ----

  // 0.5, -2, 1/3, -inf: exactly what is written; null for what is no number.
  function read(text) {
    const plain = String(text).trim().replaceAll("−", "-").replace("∞", "inf");
    if (plain === "-inf") return LOWEST;
    const match = /^(-?)(\d+\.?\d*|\.\d+)(?:e([+-]?\d{1,4}))?(?:\/(\d+)\.?(\d*))?$/i.exec(plain);
    if (!match || plain.length > 400) return null;
    const [, minusSign, digits, exponent = "0", below, after = ""] = match;
    const [before, behind = ""] = digits.split(".");
    const number = timesRational(ratio(BigInt(minusSign + before + behind || 0)), ten(Number(exponent) - behind.length));
    if (below === undefined) return number;
    const divisor = ratio(BigInt(below + after), 10n ** BigInt(after.length));
    return divisor.n ? timesRational(number, ratio(divisor.d, divisor.n)) : null;
  }

  // A number of the page's data: its text, or an operation and its operands.
  function made(written) {
    if (!Array.isArray(written)) return read(written) ?? UNKNOWN;
    const [op, ...parts] = written;
    const args = parts.map(made);
    switch (op) {
      case "π": return node("π");
      case "^": return power(args[0], parts[1], parts[2]);
      case "+": return sum(args);
      case "*": return args.reduce(product);
      case "/": return quotient(...args);
      default: return OF_ONE[op](args[0]);
    }
  }

  const OF_ONE = {
    "√": sqrt, exp, ln, tanh, sin, cos, erf, "σ": sigmoid,
    max0: (x) => larger(x, ZERO),
    elu1: (x) => ordered(x, 0, (found) => (found < 0 ? exp(x) : sum([x, 1]))),
    abs: (x) => ordered(x, 0, (found) => (found < 0 ? negative(x) : x)),
    min1: (x) => ordered(x, 1, (found) => (found < 0 ? x : ONE)),
    above0: (x) => ordered(x, 0, (found) => (found > 0 ? ONE : ZERO)),
    below1: (x) => ordered(x, 1, (found) => (found < 0 ? ONE : ZERO)),
  };

  // The nearest float, or nearly so.
  function nearest(x) {
    if (x === LOWEST) return -Infinity;
    const value = enclose(x, BITS[0]);
    if (!value) return NaN;
    const extra = Math.max(bitLength(value.m) - 64, 0);
    return Number(value.m >> BigInt(extra)) * 2 ** (value.e + extra);
  }

  // A float is the binary fraction that it is.
  function ofFloat(x) {
    if (Number.isNaN(x)) return UNDEFINED;
    if (!Number.isFinite(x)) return x < 0 ? LOWEST : UNDEFINED;
    let places = 0;
    for (; !Number.isInteger(x); places++) x *= 2;
    return ratio(BigInt(x), 1n << BigInt(places));
  }

  return {
    allow, ofFloat, certain, sum, product, quotient, minus, sqrt, exp, together, order, enclose, largest, firstLargest, threshold, thresholdOfSquares, fixed, shown, read, made,
    nearest, onCircle, OF_ONE, LOWEST, UNKNOWN,
  };
})();
