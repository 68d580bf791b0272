// The picture of who attends to whom: it follows the weights, and the lines of the query that is followed stand out.

const drawings = $$(".lines-between");

function redraw(picture) {
  const [most, h] = [largest(weighed), numberIn(picture, "h")];
  for (const line of $$("line", picture)) {
    const [row, key] = ["i", "j"].map((name) => numberIn(line, name));
    const share = Math.abs(entryOn(weighed, key, row, h).value) / most;
    line.setAttribute("stroke-width", share >= 0.01 ? (0.75 + 5 * share).toFixed(2) : "0");
    line.setAttribute("opacity", share >= 0.01 ? (0.25 + 0.75 * share).toFixed(2) : "0");
    line.classList.toggle("other", row !== followed.row);
  }
  for (const query of $$("[data-q]", picture)) query.classList.toggle("asked", numberIn(query, "q") === followed.row);
}

for (const picture of drawings) {
  const h = numberIn(picture, "h");
  picture.ariaLabel = `Weights as lines from queries to keys${h === null ? "" : `, head ${h + data.base}`}`; // of no numbers, which change
  picture.addEventListener("click", ({ target }) => {
    const query = target.closest("[data-q]");
    if (query) followRow(numberIn(query, "q"), h ?? followed.head);
  });
}

nowAndSettled(() => {
  drawings.forEach(redraw);
  const dark = weighed && darkest(weighed);
  if (weighed && $(".darkest")) $(".darkest").textContent = dark === null ? "1" : pretty(textAt(weighed, dark)).replace("−", "");
});
