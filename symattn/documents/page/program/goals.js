// Goals that are reached by changing numbers. Whether one is reached, and that one cannot be, is decided by the page's
// exact numbers: "mostly" is more than a half, "equally" at most one hundredth apart, an output is met to one decimal.

const [HALF, HUNDREDTH, NEAR] = ["0.5", "0.01", "0.05"].map((text) => certified.read(text));

// Whether a number is below another one; null where that is not known.
function isBelow(number, other) {
  const found = certified.order(number, other);
  return found === null ? null : found < 0;
}
const everyOne = (found) => (found.includes(null) ? null : found.every(Boolean));

function mostlyAt(key) {
  return {
    words: `look mostly at ${calledKey(key)}`, title: "more than half of the weight",
    isMet: () => isBelow(HALF, weightNumber(key)),
    now: () => `the weight of ${calledKey(key)} is ${weightOf(key).text}`,
    never() {
      if (isHidden(key)) return `The mask hides ${quoted(key)} from ${askedInWords()}, so its weight is 0 whatever the other numbers are.`;
      if (!isPlane()) return "";
      const twin = twinOf(key, seenKeys());
      if (twin !== undefined) return `${quoted(key)} and ${quoted(twin)} have equal keys, so equal weights: neither is above a half.`;
      return isBetweenOthers(key, seenKeys()) ? "Its key lies between others: for no query is its score above all theirs or its weight above a half." : "";
    },
  };
}

const equally = () => ({
  words: "share equally", title: "no two shares more than 0.01 apart",
  isMet() {
    const row = seenKeys().map(weightNumber);
    const ends = [1, -1].map((sign) => certified.largest(row.map((number) => certified.product(certified.certain(sign), number))));
    const found = isBelow(HUNDREDTH, certified.sum(ends));
    return found === null ? null : !found;
  },
  now: () => `the shares are ${seenKeys().slice(0, MOST_LISTED + 2).map((key) => weightText(key, true)).join(", ")}`,
  never: () => "",
});

// Whether outputs are means of values: weights above 0 that make 1.
const areMeans = isMixedInPlane && sharing?.part[0] === "x" && sharing.whole[0] === "s";
function outputOf(target) {
  const wantedNumbers = target.map((text) => certified.read(text));
  return {
    words: `make the output (${target.map(pretty).join(", ")})`, title: "each number, to one decimal",
    isMet: () => everyOne(wantedNumbers.map((goal, c) => isBelow(certified.OF_ONE.abs(certified.minus(output()[c].number, goal)), NEAR))),
    now: () => `the output is ${outputText()}`,
    never() {
      const [keys, place, plane] = [seenKeys(), `(${target.map(pretty).join(", ")})`, isPlane()];
      if (liesOutside(wantedNumbers, keys.map((key) => [key]))) return `The output is a mean of the values that ${queryNames ? askedInWords() : queryName(followed.row)} sees, and ${place} lies outside the shape between them.`;
      const alike = keys.map((key) => keys.filter((other) => other === key || (plane && areSame(key, other))));
      return liesOutside(wantedNumbers, alike) ? `Equal keys have equal shares, and no such mean is ${place}.` : "";
    },
  };
}

// Whether no mean of the values is near a point; the values of each group of keys count by their mean.
function liesOutside(point, groups) {
  return isBeside(point, groups.map((some) => [0, 1].map((c) => certified.quotient(certified.sum(some.map((key) => valueVector(key)[c])), some.length))), NEAR);
}

// An output that a query on the grid makes where scores are divided by √2, away from the one there is.
const TRIED = [[-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5], [0.5, 0.5], [0, 0.6], [0.6, 0], [-0.6, 0]];
function outputInReach() {
  const now = output().map(({ value }) => value);
  const [keys, values] = [keyNumbers, valueVector].map((numbers) => seenKeys().map((key) => floats(numbers(key))));
  const made = TRIED.map((tried) => {
    const query = tried.map((part) => Number(onGrid(part * reach)));
    const raised = keys.map((key) => Math.exp(dot(query, key) / Math.SQRT2));
    return [0, 1].map((c) => FLOATS.sum(raised.map((part, k) => part * values[k][c])) / FLOATS.sum(raised));
  });
  const found = made.find((one) => one.every((x) => Math.abs(x - x.toFixed(1)) < 0.045) && Math.hypot(...one.map((x, c) => x.toFixed(1) - now[c])) > 0.5);
  return found && outputOf(found.map((x) => String(Number(x.toFixed(1)))));
}

// Three goals that can be reached, and one that cannot.
function goalsOf() {
  const keys = seenKeys();
  if (!sharing || keys.length < 2 || data.chunk) return [];
  const between = isPlane() ? keys.filter((key) => twinOf(key, keys) !== undefined || isBetweenOthers(key, keys)) : [];
  const [least] = keys.filter((key) => !between.includes(key) && weight(key) <= 0.5).sort((one, other) => weight(one) - weight(other));
  const hidden = everyKey().find(isHidden);
  const high = areMeans && String(Math.ceil(Math.max(...keys.map((key) => certified.nearest(valueVector(key)[0])))) + 1);
  const never = between.length ? mostlyAt(between[0]) : hidden !== undefined ? mostlyAt(hidden) : high && outputOf([high, "0"]);
  return [least !== undefined && mostlyAt(least), equally(), areMeans && isMovable() && outputInReach(), never].filter(Boolean);
}

let goal = null;
let goalsOfRow = ""; // for which row of which head they were made
const rowInWords = () => `${followed.row}.${followed.head}`;
const goalList = make("div", "", { class: "goals", role: "group", "aria-label": "Goals" });
const goalTold = make("p", "", { class: "goal" });
let goalAloud = "";

function newGoals() {
  goal = null;
  goalsOfRow = rowInWords();
  goalList.replaceChildren(...goalsOf().map((one) => {
    const button = make("button", one.words, { type: "button", title: one.title, "aria-pressed": "false" });
    button.addEventListener("click", () => {
      goal = goal === one ? null : one;
      for (const other of goalList.children) other.ariaPressed = other === button && goal !== null;
      tellGoal();
    });
    return button;
  }));
  goalList.parentElement.hidden = !goalList.children.length;
  tellGoal();
}

function tellGoal() {
  if (held || certifying !== null) return;
  if (goalsOfRow !== rowInWords()) { newGoals(); return; }
  goalTold.replaceChildren(...(goal ? wordsOfGoal() : []));
  goalAloud = aloud(goalTold.textContent, goalAloud);
}

function wordsOfGoal() {
  if (supposed) return ["Goals are for the attention without “What if”."];
  const never = goal.never();
  if (never) return [make("b", "Impossible. "), never];
  const met = live && !proven ? null : goal.isMet();
  if (met === null) return ["Undecided: the digits are not proven."];
  if (met) return [make("b", "Reached: "), `${goal.now()}.`];
  return [make("b", "Not yet: "), `${goal.now()}. Asked for is ${goal.title}. ${isMovable() ? "Move the query or change numbers." : "Change the numbers."}`];
}

if (weighed) {
  bars.parentElement.append(make("div", [make("h3", "Try to"), goalList, goalTold], { class: "try" }));
  whenSettled(tellGoal);
  addEventListener("hashchange", newGoals);
}
