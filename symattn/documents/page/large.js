// Large matrices are shortened until a reader opens them.

function named(name, scope) {
  const head = make("th", "", name.length > 12 ? { scope, title: name } : { scope });
  head.append(make("bdi", name));
  return head;
}

function openWhole(button) {
  const table = $("table", button.parentElement);
  const item = items.get(table.dataset.m);
  const h = table.dataset.h === undefined ? null : Number(table.dataset.h);
  const [rows, columns] = item.labels.map((k) => (k === null ? null : data.labels[k]));
  for (const cell of $$("td[data-c]", table)) {
    const same = cells.get(cell.key);
    same.splice(same.indexOf(cell), 1);
  }
  const parts = [];
  if (columns) {
    const line = document.createElement("tr");
    if (rows) line.append(make("td", "", { class: "corner" }));
    line.append(...columns.map((name) => named(name, "col")));
    const head = document.createElement("thead");
    head.append(line);
    parts.push(head);
  }
  const body = document.createElement("tbody");
  for (let i = 0; i < rowsOf(item); i++) {
    const line = make("tr", "", { "data-r": i });
    if (rows) line.append(named(rows[i], "row"));
    for (let j = 0; j < columnsOf(item); j++) {
      const cell = make("td", pretty(item.texts[placeOf(item, h, i, j)]), { "data-c": j, tabindex: i + j ? -1 : 0 });
      line.append(cell);
    }
    body.append(line);
  }
  parts.push(body);
  for (const count of ["aria-rowcount", "aria-colcount"]) table.removeAttribute(count);
  table.replaceChildren(...parts);
  register(table);
  refresh(table);
  button.remove();
  $("td[data-c]", table).focus();
}

document.addEventListener("click", (event) => {
  if (event.target.matches("button.open")) openWhole(event.target);
});
