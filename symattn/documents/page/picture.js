// The picture of who attends to whom follows the weights.

function redraw(picture) {
  const item = data.items.find((each) => each.name === "weights");
  const h = picture.dataset.h === undefined ? null : Number(picture.dataset.h);
  const most = largest(item);
  for (const line of $$("line", picture)) {
    const [i, j] = [Number(line.dataset.i), Number(line.dataset.j)];
    const place = data.flipped ? placeOf(item, h, j, i) : placeOf(item, h, i, j);
    const share = Math.abs(valueAt(item, place)) / most;
    line.setAttribute("stroke-width", share >= 0.01 ? (0.75 + 5 * share).toFixed(2) : "0");
    line.setAttribute("opacity", share >= 0.01 ? (0.25 + 0.75 * share).toFixed(2) : "0");
  }
}

whenSettled(() => { for (const picture of $$(".lines-between")) redraw(picture); });
