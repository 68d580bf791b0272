// A series: the chunk that the address asks for is put in place before the program starts, which knows of one alone.
const element = (id) => document.getElementById(id);
const template = (k) => document.querySelector(`template[data-chunk="${k}"]`);
if (!template(1)) {
  const first = document.createElement("template");
  first.dataset.chunk = 1;
  first.content.append(...["contents", "main", "data"].map((id) => element(id).cloneNode(true)));
  element("data").after(first);
}
const count = document.querySelectorAll("template[data-chunk]").length;
const asked = (otherwise) => Math.max(1, Math.min(Number(/^#(?:.*;)?chunk=(\d{1,3})(?:;|$)/.exec(location.hash)?.[1] ?? otherwise), count));
const chunk = asked(1);
for (const part of [...template(chunk).content.cloneNode(true).children]) element(part.id).replaceWith(part);
let leaving = false; // then the address is left to this part
// Another chunk is the page loaded anew, at the same step, with the same temperature and decimals.
function turn(to) {
  if (to < 1 || to > count || to === chunk) return;
  const kept = location.hash.slice(1).split(";").filter((part) => /^(t|d|stage)=/.test(part));
  const atEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 4;
  const step = [...document.querySelectorAll("main > .step")].findLast((one) => atEnd || one.getBoundingClientRect().top < innerHeight / 2);
  leaving = true;
  location.hash = [`chunk=${to}`, ...kept, ...(step && scrollY ? [step.id] : [])].join(";");
}
addEventListener("hashchange", (event) => {
  if (asked(chunk) === chunk) return;
  event.stopImmediatePropagation();
  leaving = true;
  try { history.replaceState({ focus: document.activeElement.id }, ""); } catch { /* then the focus is not kept */ }
  location.reload();
});
history.scrollRestoration = "manual"; // the step says where to go
addEventListener("load", () => {
  const step = decodeURIComponent(location.hash.slice(1).split(";").at(-1));
  if (step && !step.includes("=")) element(step)?.scrollIntoView();
});
const titles = JSON.parse(document.querySelector(".series").dataset.titles);
const slider = element("chunk");
slider.addEventListener("input", () => {
  const words = `${slider.value} of ${count}: ${titles[slider.value - 1]}`;
  slider.setAttribute("aria-valuetext", words);
  document.querySelector(".series b").textContent = `Chunk ${words}`;
});
slider.addEventListener("change", () => turn(Number(slider.value)));
for (const [id, by] of [["before", -1], ["after", 1]]) {
  element(id).setAttribute("aria-disabled", String(chunk + by < 1 || chunk + by > count));
  element(id).addEventListener("click", () => turn(asked(chunk) + by));
}
document.addEventListener("keydown", (event) => {
  const by = { "[": -1, "]": 1 }[event.key];
  if (by && !event.metaKey && event.ctrlKey === event.altKey && !event.target.matches("input:not([type=range]),textarea")) turn(asked(chunk) + by);
});
document.querySelector(".series .turns").hidden = false;
const focused = history.state?.focus && element(history.state.focus);
if (focused) focused.focus();
