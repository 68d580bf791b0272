// What a reader changed, and the numbers that follow from it: floats at once, and then digits that are proven.

let certifying = null; // the timer of the work that proves the digits anew

// Keeps what is the same for several entries: the parts of a rule by the indices that they depend on.
function keeping() {
  const found = new Map();
  return (rule, env, make) => {
    if (!found.has(rule)) found.set(rule, { names: Object.keys(env).filter((name) => dependsOn(rule, name)), by: new Map() });
    const { names, by } = found.get(rule);
    const key = names.map((name) => env[name]).join();
    if (!by.has(key)) by.set(key, make());
    return by.get(key);
  };
}

// The numbers by letter, as `floats` or certified `numbers`: those that are given, and those that follow by their rules.
function computed(kind) {
  const [numbers, heat] = kind === "floats" ? [FLOATS, certified.nearest(divisor)] : [CERTIFIED, divisor];
  const kept = { ...numbers, kept: keeping() };
  const found = new Map(data.items.map(({ letter, texts }) => [letter, given.get(letter)?.[kind] ?? Array(texts.length).fill()]));
  const at = (item, place) => (item === warmth ? heat : (found.get(item.letter)[place] ??= evaluate(ruleOf(item), entryIn(item, place), at, null, kept)));
  for (const item of data.items) item.texts.forEach((_, place) => at(item, place));
  return found;
}

// What was changed, in words: entries, the temperature, the number of decimals.
function changes() {
  const out = everyEdited().map((entry) => `${entryWords(entry)}: ${pretty(entry.item.first.texts[entry.place])} → ${pretty(entry.typed)}`);
  if (temperature !== "1") out.push(`temperature ${temperature}`);
  if (digits !== data.digits) out.push(digits === 1 ? "1 decimal" : `${digits} decimals`);
  return out;
}

// The work that is done for proofs: so many operations, and then so many entries whose digits are decided. The steps are
// certified in order; those beyond stay as floating point computed them, and say so.
const MOST_OPERATIONS = 1e6, MOST_CERTIFIED = 10000;

// What is said of the digits: while they are computed, when all are proven, when some or all are not.
const ANSWERS = {
  provisional: "These digits are provisional until they are proven.",
  proven: "Every digit is proven anew.",
  undefined: "Where something is divided by 0 there is no number; every other digit is proven anew, but for those with a question mark.",
  open: "Every digit is proven anew, but for those with a question mark.",
  floating: "Floating point computed these digits; they are not proven.",
};

let answer = "floating"; // what holds once nothing is computed any more: a key of the answers, or a sentence
let held = false; // while something is dragged
const state = () => (held || certifying !== null ? "provisional" : proven ? answer : "floating");
const answered = () => ANSWERS[state()] ?? state();

// Floats at once, and then, unless something is held, the digits that are proven.
function recompute(holding = false) {
  if (holding && !held) steady(true);
  forget();
  held = holding;
  live = supposed || changes().length ? computed("floats") : null;
  if (live && !held) inSlices(certifyAll(), (timer) => { certifying = timer; }, () => { certifying = null; settle(); });
  settle();
}

function forget() {
  clearTimeout(certifying);
  [certifying, live, proven, held] = [null, null, null, false];
}

const SLICE = 30; // milliseconds

// Does the work a slice at a time, so that the page stays usable; `keep` is told each timer, `then` what comes out.
function inSlices(work, keep, then) {
  keep(setTimeout(() => {
    const until = performance.now() + SLICE;
    let next = work.next();
    while (!next.done && performance.now() <= until) next = work.next();
    if (next.done) then(next.value); else inSlices(work, keep, then);
  }));
}

// What goes beyond the engine's memory or the length of its numbers ends it: the digits stay those of floating point.
function* certifyAll() {
  try { yield* certify(); } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    certified.allow(Infinity);
  }
}

// A float's digits, with the sign of what is not proven.
const unproven = (value) => ({ text: Number.isFinite(value) ? `${rounded(value)}?` : rounded(value), exact: false, proven: false });

function* certify() {
  const found = new Map();
  certified.allow(MOST_OPERATIONS);
  const all = computed("numbers");
  const isSpent = certified.allow(Infinity);
  let [left, beyond] = [MOST_CERTIFIED, null];
  for (const [letter, values] of all) {
    const numbers = Array.from(values, certified.certain);
    if (!given.has(letter) && ((left -= numbers.length) < 0 || (isSpent && numbers.includes(certified.UNKNOWN)))) beyond ??= items.get(letter);
    const entry = { numbers, shown: [], beyond: beyond !== null };
    found.set(letter, entry);
    if (beyond) {
      entry.numbers = numbers.map(() => certified.UNKNOWN);
      entry.shown = Array.from(live.get(letter), unproven);
    } else for (const number of numbers) { entry.shown.push(shownAs(number)); yield; }
  }
  const shown = [...found.values()].flatMap((entry) => entry.shown);
  answer = beyond ? `The digits before ${beyond.name.replaceAll("_", " ")} are proven anew; floating point computed those from there on, and they are not proven.`
    : shown.some((one) => one.text === "undefined") ? "undefined" : shown.every((one) => one.proven) ? "proven" : "open";
  proven = found;
}

// The numbers that the page came with, not yet shown.
function startAnew() {
  forget();
  supposed = null;
  [temperature, divisor, digits] = ["1", certified.certain(1), data.digits];
  for (const letter of given.keys()) putBack(letter, items.get(letter).first);
}
function putBack(letter, values) {
  for (const [kind, all] of Object.entries(values)) all.forEach((value, place) => { given.get(letter)[kind][place] = value; });
}

// A number as people write it, as it is meant and as a float, or why it is none.
function readNumber(text) {
  try {
    const number = typed(text);
    const float = certified.nearest(number);
    if (Number.isFinite(float) || number === certified.LOWEST) return { number, float };
    return { why: `“${short(text)}” is too large here.` };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { why: `“${short(text)}” is not a number here: ${error.message}.` };
  }
}

const short = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

// Why a text cannot be this entry; "" where it can, and then it is.
function assign({ item, place }, text) {
  if (data.chunk) return "The numbers of a series cannot be changed here.";
  const { number, float, why } = readNumber(text);
  if (why) return why;
  if (number === certified.LOWEST && !item.logits)
    return `−∞ has no meaning in ${item.name}; only scores and masks hold it.`;
  if (isToggled(item) && float !== seen(item) && float !== unseen(item)) return `${pretty(text)} has no meaning in ${item.name}.`;
  const values = given.get(item.letter);
  [values.numbers[place], values.floats[place], values.texts[place]] = [number, float, text.trim()];
  return "";
}

// The same for the temperature, and for the number of decimals.
function heat(text) {
  const { number, float, why } = readNumber(text);
  if (why || !(float > 0)) return why ?? "The temperature has to be above 0.";
  [temperature, divisor] = [certified.order(number, 1) === 0 ? "1" : text.trim(), number];
  return "";
}

function round(text) {
  if (!/^\d{1,2}$/.test(text) || Number(text) > 15) return "Give a number of decimals from 0 to 15.";
  digits = Number(text);
  return "";
}

// A step of a reader's: what is computed anew, to be undone, and in the link.
function changed(complaint) {
  if (complaint) say(complaint);
  else { recompute(); commit(); }
  return complaint;
}
function put(entry, text) {
  const complaint = changed(assign(entry, text));
  if (!complaint) $("#said").textContent = `${entryWords(entry)} is now ${pretty(entry.typed)}.`;
  return complaint;
}
