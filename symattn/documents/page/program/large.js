// Large matrices are shortened until a reader opens them.

function openWhole(button) {
  const table = $("table", button.parentElement);
  const item = items.get(table.dataset.m);
  const h = numberIn(table, "h");
  const [rows, columns] = labelsOf(item);
  for (const cell of $$("td[data-c]", table)) {
    const same = cells.get(cell.key);
    same.splice(same.indexOf(cell), 1);
  }
  const [height, width] = item.shape.map(numbersTo);
  const cellAt = (i, j) => make("td", pretty(item.texts[placeOf(item, h, i, j)]), { tabindex: i + j ? -1 : 0 });
  const head = columns && make("tr", [rows && make("td", "", { class: "corner" }), ...columns.map((name) => headCell(name, "col"))]);
  const lines = height.map((i) => make("tr", [rows && headCell(rows[i], "row"), ...width.map((j) => cellAt(i, j))]));
  for (const count of ["aria-rowcount", "aria-colcount"]) table.removeAttribute(count);
  table.replaceChildren(...(head ? [make("thead", head)] : []), make("tbody", lines));
  register(table);
  refresh(table);
  button.remove();
  $("td[data-c]", table).focus();
}

document.addEventListener("click", (event) => {
  if (event.target.matches("button.open")) openWhole(event.target);
});
