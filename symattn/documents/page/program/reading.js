// What people type, read as symattn/arithmetic/reading.py reads it: 0.5, -2, 1/3, sqrt(2), e^2/(1+e^2), -inf. A decimal comma too.
// The grammar is the closed one of symattn/grammar.py, with its limits on length, depth, digits and exponents.
const typed = (() => {
  const c = certified;
  const [LENGTH, DEPTH, DIGITS, EXPONENT, ANGLE] = [200, 40, 60, 400, 1e6];
  const LARGEST = c.read(`1e${EXPONENT}`);
  const INFINITE = { op: "inf", args: [] };
  const [ZERO, ONE] = [0, 1].map(c.certain);
  const CONSTANTS = { e: c.exp(1), pi: c.made(["π"]), "π": c.made(["π"]), "∞": INFINITE, oo: INFINITE, inf: INFINITE, infinity: INFINITE };
  const FUNCTIONS = ["sqrt", "exp", "ln", "log", "sin", "cos", "tanh"];
  const SAME = { "−": "-", "·": "*", "×": "*", "⋅": "*", "@": "*", "**": "^", "{": "(", "}": ")" };
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const TOKEN = new RegExp(
    String.raw`\s*(?:(?<cut>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE](?:[-+−](?![0-9])|(?![-+−A-Za-z0-9_'⁰¹²³⁴-⁹⁻α-ωΑ-Ω]|\s*(?:\^|\*\*))))` +
    String.raw`|(?<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+−]?[0-9]+)?)|(?<raised>⁻?[⁰¹²³⁴-⁹]+)|(?<word>[A-Za-z]+|[π∞√])|(?<sign>\*\*|[-−+*·×⋅@/^(){}]))`, "y");
  const DECIMAL = /^([+-]?)([0-9]{0,120})(?:\.([0-9]{0,120}))?(?:[eE]([+-]?[0-9]{1,9}))?$/;
  const LATEX = { cdot: "*", times: "*", left: "", right: "", infty: "∞", quad: " " };

  const refuse = (why) => { throw new SyntaxError(why); };
  const isInfinite = (x) => x === INFINITE || x === c.LOWEST;
  const isRational = (x) => x.d !== undefined;
  const isE = (x) => x.op === "exp" && x.args[0].n === 1n && x.args[0].d === 1n;

  // ---- tokens ----

  function plain(text) {
    const spelled = text.replace(/\\(?:mathbf|mathsf|mathrm|mathit|operatorname|text)\s*\{([A-Za-z][A-Za-z0-9_]*)\}|\\([A-Za-z]+)|\\([^A-Za-z])/g, (whole, inner, word, mark, at) => {
      const put = inner ?? (mark ? (",;:! ".includes(mark) ? " " : mark) : LATEX[word] ?? (FUNCTIONS.includes(word) || CONSTANTS[word] ? word : whole));
      return put.length > 1 && /[a-z]/i.test(text[at - 1] ?? "") ? ` ${put}` : put;
    });
    // A comma between digits is that of a decimal, unless it may stand between thousands.
    return spelled.replace(/(?<![0-9.,])([0-9]*),([0-9]+)(?![0-9.,])/g, (whole, before, after) => {
      if (after.length === 3 && /^[1-9][0-9]{0,2}$/.test(before)) refuse(`“${whole}” may be ${before}.${after} or ${before}${after}; write which`);
      return `${before}.${after}`;
    });
  }

  function cut(text) {
    const tokens = [], open = [];
    const last = text.trimEnd().length;
    for (let at = 0; at < last;) {
      TOKEN.lastIndex = at;
      const match = TOKEN.exec(text);
      if (!match) refuse(`“${text.slice(at).trim()[0]}” is not part of a number`);
      const [[kind, token]] = Object.entries(match.groups).filter(([, found]) => found !== undefined);
      at = TOKEN.lastIndex;
      if (kind === "cut") refuse(`the exponent of “${token}” is cut off`);
      if (kind === "word") {
        const isCall = /^\s*[({]/.test(text.slice(at));
        const word = /^[A-Za-z][A-Za-z0-9α-ωΑ-Ω_]*/.exec(text.slice(at - token.length))?.[0];
        if (["log2", "log10", "exp2"].includes(word)) refuse(`“${word}” is not a function here`);
        if (token === "√" || FUNCTIONS.includes(token)) tokens.push({ kind: isCall ? "call" : "bare", token });
        else if (Object.hasOwn(CONSTANTS, token)) tokens.push({ kind: "constant", token });
        else refuse(`“${token}” is not part of a number`);
      } else if (kind === "sign") {
        if ("({".includes(token)) { open.push(token); if (open.length > DEPTH) refuse("it is nested too deep"); }
        if (")}".includes(token) && open.pop() !== (token === ")" ? "(" : "{")) refuse(`“${token}” closes no bracket`);
        tokens.push({ kind: SAME[token] ?? token });
      } else tokens.push({ kind, token });
    }
    if (open.length) refuse(`the bracket “${open.pop()}” is not closed`);
    return tokens;
  }

  // ---- values, as value_of has them ----

  const isBelow = (x, most) => c.order(x, most) === -1 && c.order(c.product(-1, most), x) === -1;
  function bounded(x) {
    if (isInfinite(x)) refuse("infinity cannot be part of an expression");
    if (!isBelow(x, LARGEST)) refuse("a part of it is too large");
    return x;
  }

  const side = (x) => (x === INFINITE ? 1 : c.order(x, ZERO));
  const negated = (x) => (x === INFINITE ? c.LOWEST : x === c.LOWEST ? INFINITE : c.product(-1, x));

  function added(terms) {
    const infinite = terms.filter(isInfinite);
    if (!infinite.length) return c.sum(terms);
    return infinite.every((x) => x === infinite[0]) ? infinite[0] : refuse("infinities cancel in it");
  }

  function times(a, b) {
    if (!isInfinite(a) && !isInfinite(b)) return c.product(a, b);
    const sides = side(a) * side(b);
    return sides ? (sides > 0 ? INFINITE : c.LOWEST) : refuse("it multiplies infinity by zero");
  }

  function nonzero(x) {
    if (!side(bounded(x))) refuse("it divides by zero");
    return x;
  }

  const over = (a, b) => { nonzero(b); return isInfinite(a) ? times(a, b) : c.quotient(a, b); };

  function whole(x, k) { // x^k by squaring
    if (k < 0) return c.quotient(ONE, whole(x, -k));
    let out = ONE;
    for (let square = x; k; k >>= 1) { if (k & 1) out = c.product(out, square); if (k > 1) square = c.product(square, square); }
    return out;
  }

  // |ln |x|| as a float; null where x may be 0.
  const logSize = (x) => (side(x) ? Math.abs(c.nearest(c.OF_ONE.ln(side(x) < 0 ? negated(x) : x))) : null);

  function raised(base, exponent) {
    if (isE(base)) return applied("exp", exponent);
    if (isRational(exponent) && exponent.n === -1n && exponent.d === 1n) return c.quotient(ONE, nonzero(base));
    bounded(base); bounded(exponent);
    if (!isRational(exponent) || exponent.d > 2n) refuse("only e may have such an exponent; elsewhere write an integer or a half-integer");
    const k = Number(exponent.n);
    if (Math.abs(k) > EXPONENT * Number(exponent.d)) refuse(`keep exponents within ±${EXPONENT}`);
    const size = logSize(base);
    if (size === null && k < 0) refuse("it divides by zero");
    if (exponent.d === 2n && !(side(base) >= 0 && side(base) !== null)) refuse("it is the root of a negative number");
    if (size !== null && (size * Math.abs(k)) / Number(exponent.d) > 2000) refuse("the power is too large or too small");
    if (base.op === "exp") return powerOfE(c.product(exponent, base.args[0]));
    return whole(exponent.d === 2n ? c.sqrt(base) : base, k);
  }

  // e^x, where e^(k ln y) is y^k.
  function powerOfE(x) {
    const [k, log] = x.op === "*" && isRational(x.args[0]) ? x.args : x.op === "*" && isRational(x.args[1]) ? [x.args[1], x.args[0]] : [ONE, x];
    return log.op === "ln" && k.d <= 2n && Math.abs(Number(k.n)) <= EXPONENT ? raised(log.args[0], k) : c.exp(x);
  }

  function applied(name, x) {
    if (name === "exp" && x === c.LOWEST) return ZERO;
    bounded(x);
    if (name === "exp") return powerOfE(x);
    const exact = c.onCircle(name, x);
    if (exact) return exact;
    if (["sin", "cos", "tanh"].includes(name)) return isBelow(x, ANGLE) ? c.OF_ONE[name](x) : refuse(`the argument of ${name} is too large`);
    const at = side(x);
    if (name === "sqrt" || name === "√") return at === null || at < 0 ? refuse("it is the root of a negative number") : x.op === "exp" ? powerOfE(c.quotient(x.args[0], 2)) : c.sqrt(x);
    if (at === 1 && x.op === "exp") return x.args[0];
    return at === 1 ? c.OF_ONE.ln(x) : refuse("it is the logarithm of a number that is not positive");
  }

  // ---- the grammar: each part with its value, its depth, and what its neighbours ask about ----

  function parsed(tokens) {
    let at = 0;
    const sees = (...kinds) => kinds.includes(tokens[at]?.kind);
    const taken = (...kinds) => (sees(...kinds) ? tokens[at++] : null);
    const part = (value, depth, more = {}) => (depth > DEPTH ? refuse("it is nested too deep") : { value, depth, ...more });
    const signed = (inner) => {
      const sign = taken("+", "-");
      const found = sign ? signed(inner) : inner();
      return sign ? part(sign.kind === "-" ? negated(found.value) : found.value, found.depth + 1) : found;
    };
    const power = (base, exponent) => {
      if (base.bare) refuse(`write ${base.bare}(…) with brackets where there is a power`);
      return part(raised(base.value, exponent.value), Math.max(base.depth, exponent.depth) + 1, { number: base.number });
    };
    function sum() {
      const terms = [signed(product)];
      while (sees("+", "-")) {
        const sign = taken("+", "-").kind;
        const term = signed(product);
        terms.push({ ...term, value: sign === "-" ? negated(term.value) : term.value });
      }
      return terms.length === 1 ? terms[0] : part(added(terms.map((term) => term.value)), Math.max(...terms.map((term) => term.depth)));
    }
    function product() {
      let out = powered();
      let [depth, quotients, alone] = [out.depth, 0, true];
      for (;;) {
        const sign = taken("*", "/");
        if (!sign && !sees("number", "constant", "call", "bare", "(")) break;
        const factor = sign ? signed(powered) : powered();
        if (!sign && factor.number) refuse("a number is not expected after a number; write * between them");
        quotients += sign?.kind === "/" ? 1 : 0;
        depth = Math.max(depth, factor.depth);
        out = { value: sign?.kind === "/" ? over(out.value, factor.value) : times(out.value, factor.value) };
        alone = false;
      }
      return alone ? out : part(out.value, depth + quotients);
    }
    function powered() {
      const base = level();
      return taken("^") ? power(base, exponent()) : base;
    }
    const exponent = () => signed(powered);
    function level() {
      let out = atom();
      for (let mark; (mark = taken("raised"));) {
        const digits = [...mark.token].map((sign) => (sign === "⁻" ? "-" : RAISED.indexOf(sign))).join("");
        out = power(out, part(c.read(digits) ?? refuse("the power is too large or too small"), 0));
      }
      return out;
    }
    function bracket() {
      if (!taken("(")) refuse("it ends too early");
      const inner = sum();
      if (!taken(")")) refuse("it is not one number");
      return part(inner.value, inner.depth + 1);
    }
    const atom = () => (sees("(") ? bracket() : operand());
    function operand() {
      const number = taken("number");
      if (number) return part(decimal(number.token), 0, { number: true });
      const constant = taken("constant");
      if (constant) return part(CONSTANTS[constant.token], 0);
      const call = taken("call");
      if (call) { const inner = bracket(); return part(applied(call.token, inner.value), inner.depth); }
      const bare = taken("bare");
      if (!bare) refuse(tokens[at] ? `“${tokens[at].token ?? tokens[at].kind}” is not expected there` : "it ends too early");
      const inner = operand();
      return part(applied(bare.token, inner.value), inner.depth + 1, { bare: bare.token });
    }
    const out = sum();
    if (at < tokens.length) refuse(`“${tokens[at].token ?? tokens[at].kind}” is not expected there`);
    return out.value;
  }

  function decimal(token) {
    const [digits, power = ""] = token.replace("−", "-").toLowerCase().split("e");
    if (digits.length > DIGITS) refuse(`a number has too many digits; ${DIGITS} at most`);
    if (power.length > 9 || Math.abs(Number(power)) > EXPONENT) refuse(`keep the exponent within ±${EXPONENT}`);
    return c.read(`${digits}e${Number(power)}`);
  }

  // The number, certified; throws a SyntaxError that says what is wrong.
  return (written) => {
    let text = String(written).trim().replaceAll("−", "-");
    if (!text) refuse("it is empty");
    if ([...text].length > LENGTH) refuse(`${[...text].length} characters are too many; write ${LENGTH} at most`);
    text = plain(text);
    const match = DECIMAL.exec(text);
    if (match && /[0-9]/.test(text)) {
      const [, sign, before, after = "", power = "0"] = match;
      if (!before && !after) refuse("it is not a number");
      if (Math.abs(Number(power)) > EXPONENT) refuse(`keep the exponent within ±${EXPONENT}`);
      return c.read(`${sign.replace("+", "")}${before || 0}.${after}e${Number(power)}`);
    }
    if (["-inf", "-infinity", "-oo", "-∞"].includes(text)) return c.LOWEST;
    const value = parsed(cut(text));
    if (value === c.LOWEST) return value;
    if (value === INFINITE || value.op === "undefined" || value.op === "?") refuse("it is not a real number");
    return bounded(value);
  };
})();
