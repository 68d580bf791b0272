// What every part of the page uses: elements found and made, and being told of a change.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// An element of words and elements, in a list where there are several; what is empty or false is left out.
function make(tag, content, attributes = {}) {
  const element = document.createElement(tag);
  element.append(...[content].flat().filter(Boolean));
  return setAll(element, attributes);
}
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// The same of markup of our own making.
function makeOf(tag, markup, attributes = {}) {
  const element = make(tag, "", attributes);
  element.innerHTML = markup;
  return element;
}

// Markup put into an element, where it is not there already.
function write(element, markup) {
  if (element.written !== markup) element.innerHTML = markup;
  element.written = markup;
}

const numbersTo = (size) => [...Array(size).keys()];

// A number of an element's data, null where it has none.
const numberIn = (element, name) => (element?.dataset[name] === undefined ? null : Number(element.dataset[name]));

const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

// What is done after the numbers changed or were proven, part by part in the order of the files.
const followers = [];
const whenSettled = (follower) => followers.push(follower);
const settle = () => followers.forEach((follower) => follower());
const nowAndSettled = (follower) => { whenSettled(follower); follower(); };

// Keys that no field and no cell wants: what each does while something holds. What is said later comes first; a key whose
// action returns false is left to the browser.
const layersOfKeys = [];
const keysWhile = (holds, actions) => layersOfKeys.unshift({ holds, actions });
const always = () => true;
function doKey(event) {
  const name = event.ctrlKey || event.metaKey ? `Ctrl+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}` : event.key;
  const layer = layersOfKeys.find(({ holds, actions }) => Object.hasOwn(actions, name) && holds());
  if (layer && layer.actions[name](event) !== false) event.preventDefault();
}

// What is done when what was pressed is let go.
const whenLetGo = (target, then) => ["pointerup", "pointercancel"].forEach((end) => target.addEventListener(end, then));

// The element at a place in a list; what is beyond an end is the element there.
const nearestIn = (list, k) => list[Math.max(0, Math.min(k, list.length - 1))];

// Several elements of which one is a stop of the Tab key.
const stopOn = (one, among) => { for (const other of among) other.tabIndex = other === one ? 0 : -1; };

// A saved copy of a changed page opens with the numbers that the page came with, and without what this program put there.
const saved = document.body.classList.contains("live");
document.body.className = "";
const title = ($(".titled") ?? $("header h1")).textContent; // the question of the opening takes its place
const MADE = "#stage, .mode, #mode, .what-if, #given > .hint, .byhand, .say, .titled, #contents :is(.drawing, .symbol)";
for (const left of $$(MADE)) left.remove();
