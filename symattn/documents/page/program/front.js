// The opening: a question about one token, the sentence that answers it, and its weights as bars.

const weightOf = (key) => entryOn(weighed, key);
const isHidden = (key) => isMasked(weightOf(key));
const everyKey = () => numbersTo(widthOf(weighed));
const seenKeys = () => everyKey().filter((key) => !isHidden(key));
const weight = (key) => weightOf(key).value;

const quoted = (key) => (keyNames ? `“${keyName(key)}”` : keyName(key));
const calledKey = (key) => (isItself(key) ? "itself" : quoted(key));
const askedInWords = () => (queryNames ? `“${queryName(followed.row)}”` : `Query ${followed.row + data.base}`);

// ---- the sentence ----

const weightNumber = (key) => weightOf(key).number;

// In whole per cent, rounded as all digits are; what is not quite none or all of it says so.
function percent(number) {
  const { text } = certified.shown(certified.product(certified.certain(100), number), 0, data.rounding);
  if (text === "0" && certified.order(number, 0) > 0) return "under 1 %";
  if (text === "100" && certified.order(number, 1) < 0) return "over 99 %";
  return `${pretty(text)} %`;
}

// Whether the weights are parts of one whole; where they are not, they are told as numbers.
function areShares() {
  const row = everyKey().map((key) => certified.nearest(weightNumber(key)));
  return row.every((part) => part >= 0) && Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 1e-9;
}
const weightText = (key, shares) => (shares ? percent(weightNumber(key)) : weightOf(key).text);

function sentence() {
  const shares = areShares();
  const order = heaviestFirst(seenKeys().map(weightOf)).map((entry) => keyIn(weighed, entry));
  if (!order.length) return [`${askedInWords()} looks at no key.`];
  const parts = order.map((key) => [make("b", weightText(key, shares)), ` ${shares ? "at" : "to"} ${calledKey(key)}`]);
  const rest = (more) => (shares ? [make("b", percent(certified.sum(order.slice(-more).map(weightNumber)))), ` at ${more} others`] : `smaller weights to ${more} others`);
  return [`${askedInWords()} ${shares ? "looks" : "gives the weight"} `, ...listed(shortened(parts, rest)), "."];
}

// ---- the bars ----

// The keys have hues, in classes: the page's policy has no place for styles of elements, which a saved copy would keep.
const HUES = 6;
const tinted = (element, key) => { element.classList.add(`hue${key % HUES}`); return element; };

// An element of a drawing.
function shape(tag, attributes, content = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  element.append(content);
  return setAll(element, attributes);
}

// The scores that the weights are made of, where they have a place for each.
const scored = weighed && data.items.findLast((item) => item !== weighed && isRead(item) && item.shape.join() === weighed.shape.join() && weighed.sources?.has(item.letter) && !weighed.masks?.includes(item.letter));
const scoreName = data.items.some((item) => item.name === "scaled") ? "scaled score" : "score";

function barOf(key, text) {
  const hidden = isHidden(key);
  const bar = hidden ? make("small", "hidden by the mask")
    : shape("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true", class: "whole" }, shape("rect", { width: Number.isFinite(weight(key)) ? Math.min(Math.max(weight(key), 0), 1) : 0, height: 1 }));
  return tinted(rowOfBars(keyName(key), scored && !hidden ? entryOn(scored, key).text : "", bar, hidden ? "–" : text), key);
}
const rowOfBars = (name, score, bar, share) => make("li", [make("span", name, { class: "of" }), make("span", score, { class: "score" }), bar, make("span", share, { class: "share" })]);

// ---- the opening ----

const front = make("section", "", { id: "front", "aria-label": "One token" });
const said = make("p", "", { class: "say" });
const bars = make("ul", "", { class: "bars" });
const panel = (heading, hint, ...parts) => make("div", [make("h2", heading), make("p", hint, { class: "lead" }), ...parts], { class: "panel" });

function choiceOf(name, count, words, chosen) {
  if (count < 2) return make("span", words(0));
  const select = make("select", numbersTo(count).map((k) => make("option", words(k), { value: k })), { "aria-label": name, autocomplete: "off" });
  select.value = chosen;
  select.addEventListener("change", () => followRow(Number(rowChoice.value ?? 0), Number(headChoice?.value ?? 0)));
  return select;
}
const rowChoice = weighed && choiceOf("The token that is followed", queriesOf(weighed), queryName, followed.row);
const headChoice = weighed?.heads > 0 && choiceOf("Its head", weighed.heads, (h) => `head ${h + data.base}`, followed.head);

// The temperature stands below the bars, and on the stage, which has none, in the menu.
const warmer = $("#temperature")?.closest(".setting");
function placeTemperature(isStaged) {
  if (weighed && warmer) { if (isStaged) $("#settings").prepend(warmer); else bars.after(warmer); }
}

let answeredAloud = null;
if (weighed) {
  const heading = $("header h1");
  $("#front")?.remove(); // of a saved copy, from which the temperature was taken
  heading.before(make("p", make("bdi", title), { class: "titled" }));
  heading.replaceChildren("Where does ", rowChoice, ...(headChoice ? [" look in ", headChoice] : [" look"]), "?");
  heading.after(said);
  front.append(panel("Share", "The weights of all keys make 1.", bars));
  $("header").after(front);
  placeTemperature(false);
  nowAndSettled(tellFront);
}

// Says it aloud in the page's one live region, behind what was changed, where it is something new.
function aloud(words, before) {
  if (held || certifying !== null || words === before) return before;
  if (before !== null) $("#said").textContent = [$("#said").textContent.includes(" is now ") && $("#said").textContent, words].filter(Boolean).join(" ");
  return words;
}
function tellFront() {
  const shares = areShares();
  rowChoice.value = followed.row;
  if (headChoice) headChoice.value = followed.head;
  said.replaceChildren(...sentence());
  answeredAloud = aloud(said.textContent, answeredAloud);
  const [width, keys] = [widthOf(weighed), indicesShown(widthOf(weighed))];
  const texts = keys.map((key) => weightText(key, shares));
  bars.replaceChildren(rowOfBars("", scored ? scoreName : "", make("span", ""), shares ? "share" : "weight"), ...keys.map((key, k) => barOf(key, texts[k])));
  if (keys.length < width) bars.append(make("li", `and ${width - keys.length} more below`, { class: "more" }));
  const isWhole = keys.length < width || texts.reduce((sum, text) => sum + parseInt(text, 10), 0) === 100;
  $(".lead", bars.parentElement).textContent = shares ? `Scores become shares of one whole${isWhole ? "" : ", here rounded"}.` : "The weights, which need not make 1.";
}
