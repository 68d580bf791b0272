// Controls: fields, slider, menu, and what is said of the digits.

const MOST_CHANGES = 12;

let told = ""; // what was refused or done last, until the next change
function say(words) {
  told = words;
  tellState();
}

function tellState() {
  const words = told || (live ? `${supposed ? `As if ${supposed.instead}.` : "Changed."} ${answered()}` : "Every digit is proven.");
  const line = $("#state");
  if (line.textContent !== words) line.textContent = words;
  line.title = words;
  line.dataset.s = !live ? "proven" : ANSWERS[state()] ? state() : "open";
  line.classList.toggle("said", told !== "");
}

// The line below what is given says what the digits are worth, on paper and in a saved copy too.
function tellChanges() {
  document.body.classList.toggle("held", held);
  if (held) {
    if ($("#changed p")) $("#changed p").textContent = `Changed. ${answered()}`;
    return;
  }
  const list = live ? changes() : [];
  const lines = list.slice(0, MOST_CHANGES);
  if (list.length > MOST_CHANGES) lines.push(`and ${list.length - MOST_CHANGES} more`);
  $("#changed").replaceChildren(...(list.length ? [make("p", `Changed. ${answered()}`), make("ul", lines.map((words) => make("li", words)))] : []));
  for (const item of data.items) {
    const section = sectionOf(item);
    if (!item.rule || !section) continue;
    section.classList.toggle("edited", Boolean(live && given.has(item.letter) && isToggled(item) && edited(item).length));
    for (const old of $$(".uncertified", section)) old.remove();
    tellUnseeing(item, section);
    if (proven?.get(item.letter)?.beyond)
      $(".said", section)?.append(make("p", "Not certified: this and what follows would take more work than the page does at once.", { class: "uncertified" }));
  }
}

// The queries from which a mask hides every key, in the words of the first page, where 1 is not the sum of their weights.
function tellUnseeing(item, section) {
  const old = $(".unseeing", section);
  if (!item.masks) { if (old) old.hidden = Boolean(live); return; }
  const words = unseeingWords(item);
  if (old?.textContent === words) return;
  old?.remove();
  if (words) $(".said", section)?.append(make("p", words, { class: "unseeing" }));
}

function unseeingWords(item) {
  const heads = item.heads ? numbersTo(item.heads) : [null];
  const isBlind = (h, query) => { const row = rowIn(item, query, h); return row.every(isMasked) && sharesNothing(item.rule, row[0]); };
  const found = numbersTo(queriesOf(item)).flatMap((query) => {
    const blind = heads.filter((h) => isBlind(h, query));
    const called = queryNames ? `“${queryNames[query]}”` : String(query + data.base);
    return blind.length === heads.length ? [called] : blind.map((h) => `${called} in head ${h + data.base}`);
  });
  if (!found.length) return "";
  const kind = found.length > 1 ? "queries" : "query";
  const who = found.length > MOST_LISTED ? `${found.length} queries` : `${queryNames ? "the " : ""}${kind} ${listed(found).join("")}`;
  const formula = item.rule[0] === "/" ? "the formula alone would be 0/0" : "no score is finite";
  return `But ${who} may attend to no key: ${found.length > 1 ? "their" : "its"} weights are 0 and sum to 0, by convention, since ${formula}.`;
}

// While something is dragged nothing may move below the pointer: worked lines keep their heights.
function steady(on) {
  const lines = $$(".worked");
  const heights = lines.map((line) => (on ? `${line.offsetHeight}px` : ""));
  lines.forEach((line, k) => { line.style.minHeight = heights[k]; });
}

for (const kind of ["pointerdown", "focusin"]) document.addEventListener(kind, ({ target }) => { if (!target.closest("#controls")) openMenu(false); });

// Each field: how its text is taken, and why not.
const FIELDS = { temperature: heat, decimals: round };
document.addEventListener("change", (event) => {
  const input = event.target;
  if (input.id === "slider") changed("");
  else if (FIELDS[input.id]) input.ariaInvalid = changed(FIELDS[input.id](input.value)) !== "";
});

// The slider is logarithmic, from a tenth to ten.
document.addEventListener("input", (event) => {
  if (event.target.id !== "slider") return;
  heat(String(Number((10 ** event.target.value).toPrecision(2))));
  recompute(true);
});

function openMenu(open) {
  $("#menu").hidden = !open;
  $("#more").ariaExpanded = open;
  if (open) $("#menu").scrollIntoView({ block: "nearest", behavior: calm() });
}
$("#more").addEventListener("click", () => openMenu($("#menu").hidden));
keysWhile(() => !$("#menu").hidden, { Escape() { openMenu(false); $("#more").focus(); } });

$("#reset").addEventListener("click", () => { startAnew(); changed(""); $("#more").focus(); }); // it goes

nowAndSettled(() => {
  document.body.classList.toggle("live", Boolean(live));
  $("main").ariaBusy = certifying !== null;
  if (!held && certifying === null) steady(false);
  $("#reset").disabled = !live;
  tellState();
  tellChanges();
  for (const [field, text] of [["#temperature", temperature], ["#decimals", String(digits)]]) if ($(field) && document.activeElement !== $(field)) $(field).value = text;
  if ($("#slider") && !held) $("#slider").value = Math.log10(certified.nearest(divisor));
  if ($("#slider")) $("#slider").ariaValueText = temperature;
});

$("#controls").hidden = false;
