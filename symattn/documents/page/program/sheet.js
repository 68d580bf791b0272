// The sheet: steps one below the other, to go through and to fold.

const sections = $$("main > section");
const sectionOf = (item) => $(`#${CSS.escape(item.name)}`);

// What stays above and below while the page moves: the controls, and the panel of the chosen entry.
const [above, below] = [$("#controls"), $("#origin")];
const contents = $("#contents");
const isSticky = (element) => getComputedStyle(element).position === "sticky";
const covered = () => [contents, above].filter(isSticky).reduce((sum, element) => sum + element.offsetHeight, 0);
// Styles of no element's own, which a saved copy would have: controls below the strip, a list as wide as what is chosen.
const fitted = new CSSStyleSheet();
fitted.replaceSync("#controls{}h1 select{field-sizing:content}");
document.adoptedStyleSheets = [fitted];
// A variable would be inherited by every cell, and each would be styled anew: the root has the padding itself.
function measure() {
  const root = document.documentElement.style;
  fitted.cssRules[0].style.top = isSticky(contents) ? `${contents.offsetHeight}px` : "";
  root.scrollPaddingTop = `${covered() + 12}px`;
  root.scrollPaddingBottom = `${below.offsetHeight}px`;
  room = Math.max(room, below.offsetHeight); // which stays when the panel goes, so that nothing moves
  root.paddingBottom = document.body.classList.contains("staged") ? "" : `${room}px`;
}
let room = 0;
const measured = new ResizeObserver(() => { measure(); keepEdited(); });
// The field that is written in stays in sight.
function keepEdited() {
  const { activeElement } = document;
  if (activeElement.matches("td input")) uncover(activeElement);
}
whenSettled(() => requestAnimationFrame(keepEdited)); // the list of changes above has grown
for (const part of [contents, above, below]) measured.observe(part);
measure();

// The section of the chosen entry while that is in sight, and no other was gone to; otherwise the one at the top.
function currentSection() {
  const cell = pinned && !document.activeElement.matches("main h2") && homeOf(pinned);
  const { top, bottom } = cell ? cell.getBoundingClientRect() : {};
  if (cell && bottom > top && top >= covered() && bottom <= innerHeight - below.offsetHeight) return sections.indexOf(cell.closest("main > section"));
  const passed = sections.filter((section) => section.getBoundingClientRect().top < covered() + 60);
  return passed.length ? sections.indexOf(passed[passed.length - 1]) : -1;
}

function reveal(section) {
  const folded = $("details", section);
  if (folded && section.classList.contains("step")) folded.open = true;
  $("h2", section).focus({ preventScroll: true });
  measure();
  section.scrollIntoView({ block: "start", behavior: calm() });
}

function step(by) {
  const focused = sections.findIndex((section) => $("h2", section) === document.activeElement);
  const from = focused >= 0 ? focused : currentSection();
  reveal(nearestIn(sections, from + by));
}

// What has the focus is neither under the controls nor under the panel that it opens.
function uncover(element) {
  if ([above, below].some((part) => part.contains(element))) return;
  measure();
  const { top, bottom } = element.getBoundingClientRect();
  const under = below.offsetHeight && !below.classList.contains("high") && bottom + 12 - (innerHeight - below.offsetHeight);
  const over = top - 8 - covered();
  if (over < 0) { if (element.closest("td[data-c]")) scrollBy(0, over); } else if (under > 0) scrollBy(0, Math.min(under, over));
}
document.addEventListener("focusin", (event) => uncover(event.target));

const links = new Map($$("a", contents).map((link) => [link.hash.slice(1), link]));
// Marks a step in the strip, and has it in the middle where not all are in sight.
function isAt(name) {
  const link = links.get(name);
  if (link?.ariaCurrent) return;
  for (const other of links.values()) other.ariaCurrent = other === link ? "step" : null;
  const strip = contents.firstElementChild;
  if (link) strip.scrollLeft += link.getBoundingClientRect().left + link.offsetWidth / 2 - strip.getBoundingClientRect().left - strip.clientWidth / 2;
}
function follow() {
  const at = sections[Math.max(currentSection(), 0)];
  if (at && !staged()) isAt(at.id);
}
document.addEventListener("scroll", follow, { passive: true });

keysWhile(always, { n: () => step(1), p: () => step(-1) });
