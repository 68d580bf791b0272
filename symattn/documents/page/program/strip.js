// The strip of steps: each as a small picture of its matrix, with the row that is followed outlined.

const [HIGH, MOST_CELLS] = [34, 12]; // pixels, and rows or columns of a picture
const drawnOn = new Map([["given", data.items.find((item) => !item.rule)], ...data.items.map((item) => [item.name, item])]);

function pictured(item) {
  const [rows, columns] = item.shape.map((size) => Math.min(size, MOST_CELLS));
  const cell = Math.min(10, Math.floor(HIGH / rows));
  const from = (k, side) => Math.floor((k * item.shape[side]) / [rows, columns][side]);
  const size = (i, j) => { const value = Math.abs(new Entry(item, headOf(item), i, j).value); return Number.isFinite(value) ? value : null; };
  const places = numbersTo(rows).flatMap((i) => numbersTo(columns).map((j) => ({ i, j, size: size(from(i, 0), from(j, 1)) })));
  const most = Math.max(...places.map((one) => one.size)) || 1;
  const cells = places.map(({ i, j, size }) => `<rect x="${j * cell}" y="${i * cell}" width="${cell}" height="${cell}" ${size === null ? 'class="hides"' : `fill-opacity="${(0.08 + 0.92 * size / most).toFixed(2)}"`}/>`);
  const line = Math.floor((followed.row * [rows, columns][axisOf(item)]) / item.shape[axisOf(item)]) * cell;
  const [x, y, width, height] = axisOf(item) ? [line, 0, cell, rows * cell] : [0, line, columns * cell, cell];
  const asked = hasRow(item) ? `<rect class="asked" x="${x}" y="${y}" width="${width}" height="${height}"/>` : "";
  const [wide, high] = [columns, rows].map((count) => count * cell + 4);
  return `<svg class="small of-${item.role ?? "none"}" width="${wide}" height="${high}" viewBox="-2 -2 ${wide} ${high}" aria-hidden="true">${cells.join("")}${asked}</svg>`;
}

function drawStrip() {
  for (const [name, link] of links) {
    const item = drawnOn.get(name);
    const symbol = symbolIn(item, headOf(item)) ?? symbolIn(item);
    write(link.firstChild, pictured(item));
    if (symbol) write($(".symbol", link), `<math>${symbol.outerHTML}</math>`);
  }
}

// What a reader goes to grows out of its small picture.
function growFrom(link, target) {
  const small = $("svg", link);
  if (!small || !target || isStill()) return;
  const [from, to] = [small, target].map((element) => element.getBoundingClientRect());
  const first = `translate(${from.left - to.left}px,${from.top - to.top}px) scale(${from.width / to.width},${from.height / to.height})`;
  target.animate([{ transformOrigin: "0 0", transform: first, opacity: 0.3 }, { transformOrigin: "0 0", transform: "none" }], { duration: 350, easing: "ease-out" });
}

contents.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link) return;
  const item = acts.find((one) => `#${one.name}` === link.hash);
  if (staged() && item) {
    event.preventDefault();
    openStage(item.name);
  } else if (staged()) closeStage();
  requestAnimationFrame(() => { if (!staged()) $(`${link.hash} h2`).focus({ preventScroll: true }); }); // a link loses it
  requestAnimationFrame(() => growFrom(link, item && $(staged() ? ".picture-on-stage" : ".home figure, figure.home", staged() ? stage : sectionOf(item))));
});

// One stop of the Tab key, from which the arrows lead along.
contents.addEventListener("keydown", (event) => {
  const all = [...links.values()];
  const to = { ArrowRight: all.indexOf(event.target) + 1, ArrowLeft: all.indexOf(event.target) - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  nearestIn(all, to).focus();
});
contents.addEventListener("focusin", (event) => stopOn(event.target, links.values()));

for (const link of links.values()) {
  const { role = "" } = drawnOn.get(link.hash.slice(1));
  link.prepend(make("span", "", { class: "drawing" }), make("span", "", { class: `symbol in-${role}`, "aria-hidden": "true" }));
}
contents.classList.add("drawn");
nowAndSettled(drawStrip);
stopOn(links.values().next().value, links.values());
measure();
