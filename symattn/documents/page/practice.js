// Marks what is typed into the blanks of an exercise: by the answers in the page, and by what follows from answers before.
const data = JSON.parse(document.querySelector("script.practice").textContent);
const unit = 10 ** data.digits;
const inUnits = (answer) => (answer === null ? -Infinity : typeof answer === "number" ? answer / data.finer / unit : answer);
const entries = new Map();
for (const [name, { rule, groups = [], right, others = [] }] of Object.entries(data.entries))
  entries.set(name, { name, rule, groups, right: inUnits(right), others: others.map(inUnits), field: document.querySelector(`[data-key="${name}"]`), typed: NaN });
const steps = [...Map.groupBy(entries.values(), ({ name }) => name.split("[")[0]).values()];
const asked = [...entries.values()].filter(({ field }) => field);
// A decimal, with a point or a comma, a fraction, a percentage, −∞; true or false; NaN for anything else.
function read(text) {
  const plain = text.trim().replace(/[−–]/g, "-").replace(",", ".");
  if (/^([tf].*|-(inf|infinity|oo|∞))$/i.test(plain)) return plain[0] === "-" ? -Infinity : /^t/i.test(plain);
  const found = /^([-+]?\d*\.?\d+)(?:\s*\/\s*(\d+)|\s*(%))?$/.exec(plain);
  return found ? Number(found[1]) / (found[2] ? Number(found[2]) : found[3] ? 100 : 1) : NaN;
}
// Whether a number is another one, rounded to the digits asked for; `slack` units more are let pass.
const fits = (one, other, slack = 0) => one === other || Math.abs(one - other) * unit <= 0.5 + slack + 1 / data.finer;
// Rules compute with balls: a number, and how far it may be off because numbers were rounded on the way.
const operations = {
  "+": (...balls) => balls.reduce(([a, r], [b, s]) => [a + b, r + s]),
  "*": (...balls) => balls.reduce(([a, r], [b, s]) => [a * b, Math.abs(a) * s + Math.abs(b) * r + r * s]),
  "/": ([a, r], [b, s]) => [a / b, (r + Math.abs(a / b) * s) / Math.max(Math.abs(b) - s, 0)],
  exp: ([a, r]) => [Math.exp(a), Math.exp(a) * Math.expm1(r)],
};
function computed(rule, kind) {
  if (typeof rule === "string") return entries.get(rule)[kind];
  if (!Array.isArray(rule)) return [rule ?? -Infinity, 0];
  const [value, off] = operations[rule[0]]?.(...rule.slice(1).map((part) => computed(part, kind))) ?? [NaN, NaN];
  return [value, off + (fits(value, Math.round(value * unit) / unit, -0.5) ? 0 : 0.5 / unit)];
}
// Whether what is wrong follows from answers before it, as they are written or, those that are right, unrounded.
function follow(one, { mistaken, why }) {
  const [written, exact] = ["written", "exact"].map((kind) => computed(one.rule, kind));
  const from = new Set([one.rule].flat(Infinity).flatMap((name) => [...(entries.get(name)?.sources ?? [])]));
  if (one.verdict === "wrong") {
    const isReproduced = [written, exact].some(([value]) => fits(one.typed, value)) || why.some((k) => fits(one.typed, one.others[k], 0.5));
    const isNear = fits(one.typed, one.right, 1) || fits(one.typed, written[0], written[1] * unit) || (mistaken && Number.isNaN(written[0]));
    if (!isReproduced) one.verdict = isNear ? "open" : "wrong";
    else if (![...from].some((name) => entries.get(name).verdict === "flat")) one.verdict = "follows";
  }
  const kept = one.verdict === "good" ? one.right : one.typed;
  const own = { written: [one.typed, Number.isFinite(kept) ? 0.5 / unit : 0], exact: [kept, 0], sources: /good|open/.test(one.verdict) ? [] : [one.name] };
  Object.assign(one, { from }, Number.isNaN(one.typed) ? { written, exact, sources: from } : own);
}
function tell(some, why) {
  const worst = Object.keys(data.sentences).find((name) => some.some(({ verdict }) => verdict === name));
  const from = new Set(some.flatMap((one) => (one.verdict === "follows" ? [...one.from] : [])));
  const words = [some.every(({ verdict }) => verdict === "good") ? "All of this is right." : data.sentences[worst]];
  if (from.size) words.push(`It follows from your ${[...from].join(", ")}.`);
  if (why.length === 1) words.push(`It is as if ${data.mistakes[why[0]]}`);
  some.at(-1).field.closest(".wide").nextElementSibling.textContent = words.join(" ");
  for (const { field, verdict } of some) Object.assign(field, { className: `blank ${verdict}`, ariaInvalid: String(/wrong|flat/.test(verdict)) });
}
function mark() {
  for (const one of asked) one.typed = read(one.field.value);
  for (const one of asked)
    one.verdict = !one.field.value.trim() ? "" : Number.isNaN(one.typed) ? "open" : fits(one.typed, one.right) ? "good" : "wrong";
  for (const group of new Set(asked.flatMap((one) => one.groups))) { // one number throughout, where the right ones differ
    const some = asked.filter((one) => one.groups.includes(group) && !Number.isNaN(one.typed));
    const [typed, right] = ["typed", "right"].map((kind) => new Set(some.map((one) => one[kind])).size);
    if (typed === 1 && right > 1 && some.filter(({ verdict }) => verdict !== "good").length > 1) for (const one of some) one.verdict = "flat";
  }
  let first = { mistaken: false, why: [] }; // the first step with a mistake, and what gives all of it
  for (const all of steps) {
    for (const one of all) follow(one, first);
    const some = all.filter(({ field }) => field);
    const wrong = some.filter(({ verdict }) => verdict === "wrong").length;
    const fitting = [...data.mistakes.keys()].filter((k) => some.every((one) => !one.verdict || fits(one.typed, one.others[k], 0.5)));
    const why = wrong && wrong >= Math.min(2, some.length) ? fitting : [];
    if (some.length) tell(some, why);
    if (wrong && !first.mistaken) first = { mistaken: true, why };
  }
}
for (const all of steps)
  all.findLast(({ field }) => field)?.field.closest(".wide").insertAdjacentHTML("afterend", '<p class="told" role="status"></p>');
for (const { field } of asked) field.addEventListener("input", mark);
