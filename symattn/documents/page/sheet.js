// The sheet: steps one below the other, to go through and to fold.

const sections = $$("main > section");

function currentSection() {
  const passed = sections.filter((section) => section.getBoundingClientRect().top < 140);
  return passed.length ? sections.indexOf(passed[passed.length - 1]) : -1;
}

function step(by) {
  const focused = sections.findIndex((section) => $("h2", section) === document.activeElement);
  const from = focused >= 0 ? focused : currentSection();
  const target = sections[Math.min(Math.max(from + by, 0), sections.length - 1)];
  const folded = $("details", target);
  if (folded && target.classList.contains("step")) folded.open = true;
  $("h2", target).focus({ preventScroll: true });
  target.scrollIntoView({ block: "start", behavior: calm() });
}

function foldAll() {
  const all = $$(".step > details");
  const open = all.some((details) => details.open);
  for (const details of all) details.open = !open;
  $("#fold").textContent = open ? "Unfold all" : "Fold all";
}

$("#next").addEventListener("click", () => step(1));
$("#previous").addEventListener("click", () => step(-1));
$("#fold").addEventListener("click", foldAll);

const links = new Map($$("#contents a").map((link) => [link.hash.slice(1), link]));
function follow() {
  const at = sections[Math.max(currentSection(), 0)];
  for (const [id, link] of links) {
    if (at && id === at.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
document.addEventListener("scroll", follow, { passive: true });
follow();

Object.assign(KEYS, { n: () => step(1), p: () => step(-1), f: foldAll });
if (matchMedia("(max-width: 60rem)").matches) $("#contents details").open = false;
