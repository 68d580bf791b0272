// The sheet: steps one below the other, to go through and to fold.

const sections = $$("main > section");

// What stays above and below while the page moves: the controls, and the panel of the chosen entry.
const [above, below] = [$("#controls"), $("#origin")];
const covered = () => (getComputedStyle(above).position === "sticky" ? above.offsetHeight : 0);
// A variable would be inherited by every cell, and each would be styled anew: the root has the padding itself.
function measure() {
  const root = document.documentElement.style;
  root.scrollPaddingTop = `${covered() + 12}px`;
  root.paddingBottom = below.offsetHeight ? `${below.offsetHeight}px` : "";
}
const measured = new ResizeObserver(measure);
for (const part of [above, below]) measured.observe(part);
measure();

function currentSection() {
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
  reveal(sections[Math.min(Math.max(from + by, 0), sections.length - 1)]);
}

// A cell that is chosen is neither under the controls nor under the panel that it opens.
document.addEventListener("focusin", (event) => {
  if (!event.target.closest("td[data-c]")) return;
  measure();
  const { top, bottom } = event.target.getBoundingClientRect();
  const under = bottom + 8 - (innerHeight - below.offsetHeight);
  const over = top - 8 - covered();
  if (over < 0) scrollBy(0, over); else if (under > 0) scrollBy(0, Math.min(under, over));
});

function foldAll() {
  const all = $$(".step > details");
  const open = all.some((details) => details.open);
  for (const details of all) details.open = !open;
  $("#fold").textContent = open ? "Unfold all" : "Fold all";
}

$("#next").addEventListener("click", () => step(1));
$("#previous").addEventListener("click", () => step(-1));
$("#fold").addEventListener("click", foldAll);

const contents = $("#contents");
const links = new Map($$("a", contents).map((link) => [link.hash.slice(1), link]));
function isAt(name) {
  for (const [id, link] of links) {
    if (id === name) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
function follow() {
  const at = sections[Math.max(currentSection(), 0)];
  if (at && !staged()) isAt(at.id);
}
document.addEventListener("scroll", follow, { passive: true });

Object.assign(KEYS, { n: () => step(1), p: () => step(-1), f: foldAll });
const narrow = matchMedia("(max-width: 60rem)");
if (narrow.matches) $("details", contents).open = false;
