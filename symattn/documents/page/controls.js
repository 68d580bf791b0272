// Controls: fields, switches, and what is said of the digits.

const MOST_CHANGES = 12;

// The line below the title says what the digits are worth, on paper and in a saved copy too.
function tellChanges() {
  const list = live ? changes() : [];
  const told = list.slice(0, MOST_CHANGES).map((words) => make("li", words));
  if (list.length > MOST_CHANGES) told.push(make("li", `and ${list.length - MOST_CHANGES} more`));
  const lines = make("ul", "");
  lines.append(...told);
  $("#changed").replaceChildren(...(live ? [make("p", `Changed. ${ANSWERS[state()]}`), lines] : []));
  for (const item of data.items) {
    if (!given.has(item.letter) || !isToggled(item) || !item.rule) continue;
    const edited = live && item.first.texts.some((_, place) => isChanged(item, place));
    $(`#${CSS.escape(item.name)}`).classList.toggle("edited", Boolean(edited));
  }
}

function fill(input) {
  const { item, place } = parsed(input.parentElement.key);
  input.value = given.get(item.letter).texts[place];
  input.removeAttribute("aria-invalid");
}

// The value that lets a query see a key: 0 is added, or true is 1.
const isToggled = (item) => (item.name === "mask" && item.rule !== undefined) || item.name === "allowed";
const seen = (item) => (item.name === "allowed" ? 1 : 0);

function toggle(cell) {
  const { item, place } = parsed(cell.key);
  const hiddenValue = item.name === "allowed" ? "0" : "-inf";
  put(item, place, given.get(item.letter).floats[place] === seen(item) ? hiddenValue : String(seen(item)));
}

let editing = false;
function edit() {
  editing = !editing;
  $("#edit").setAttribute("aria-pressed", String(editing));
  $("#edit").textContent = editing ? "Done" : "Change the numbers";
  document.body.classList.toggle("editing", editing);
  for (const table of $$(".home table")) {
    const item = items.get(table.dataset.m);
    if (!given.has(item.letter)) continue;
    for (const cell of $$("td[data-c]", table)) {
      if (!editing) { cell.replaceChildren(); continue; }
      const { h, i, j } = parsed(cell.key);
      if (isToggled(item)) {
        const button = make("button", "", { type: "button", class: "toggle" });
        button.append(make("span", `may be attended to, ${placeWords(item, h, i, j)} `, { class: "spoken" }), make("span", ""));
        cell.replaceChildren(button);
        continue;
      }
      const input = make("input", "", { type: "text", inputmode: "decimal", size: "6", autocomplete: "off", "aria-label": placeWords(item, h, i, j) });
      cell.replaceChildren(input);
      fill(input);
    }
    refresh(table);
  }
}

document.addEventListener("change", (event) => {
  const input = event.target;
  if (input.id === "temperature") {
    const read = readNumber(input.value);
    const good = read?.float > 0;
    input.setAttribute("aria-invalid", String(!good));
    if (good) { temperature = equal(read.number, certified.certain(1)) ? "1" : input.value.trim(); recompute(); }
  } else if (input.id === "digits") {
    const value = Number(input.value);
    const good = Number.isInteger(value) && value >= 0 && value <= 15 && input.value !== "";
    input.setAttribute("aria-invalid", String(!good));
    if (good) { digits = value; recompute(); }
  } else if (input.closest("td[data-c]")) {
    const { item, place } = parsed(input.parentElement.key);
    const complaint = put(item, place, input.value);
    input.setAttribute("aria-invalid", String(complaint !== ""));
    if (complaint) $("#state").textContent = complaint;
  }
});

$("#edit").addEventListener("click", edit);
$("#reset").addEventListener("click", () => {
  reset();
  if ($("#temperature")) $("#temperature").value = "1";
  $("#digits").value = String(data.digits);
  for (const input of $$("td input")) fill(input);
});

whenSettled(() => {
  document.body.classList.toggle("live", Boolean(live));
  $("main").setAttribute("aria-busy", String(certifying !== null));
  $("#state").textContent = live ? `Changed. ${ANSWERS[state()]}` : "Proven digits.";
  $("#reset").disabled = !live;
  tellChanges();
  $(".tempered")?.remove();
  if (live && temperature !== "1" && data.tempered) {
    const item = items.get(data.tempered);
    const home = $(`#${CSS.escape(item.name)} .lines`);
    if (home) home.append(make("p", `Divided by the temperature, ${temperature}, here.`, { class: "tempered" }));
  }
});

$("#digits").value = String(data.digits);
$("#controls").hidden = false;
