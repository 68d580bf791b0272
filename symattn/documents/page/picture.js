// The picture of who attends to whom: it follows the weights, shows a token's lines alone, and heads singly or as one.

const drawings = () => $$("#picture .lines-between");

// A token, and the tokens on the other side.
const tokensOf = (picture) => $$("text[data-q], text[data-k]", picture);
const tokenAt = ({ dataset: { q, k } }) => (q === undefined ? { side: "k", at: Number(k) } : { side: "q", at: Number(q) });
const headIn = (element) => numberIn(element.closest("[data-h]"), "h");

// What a token attends to, or what attends to it, heaviest first.
function attended(picture, { side, at }) {
  const heads = picture.dataset.heads ? picture.dataset.heads.split(" ").map(Number) : [headIn(picture)];
  return heads.map((h) => {
    const row = side === "q" ? rowIn(weighed, at, h) : numbersTo(queriesOf(weighed)).map((line) => entryOn(weighed, at, line, h));
    const other = (entry) => (side === "q" ? keyName(keyIn(weighed, entry)) : queryName(lineIn(weighed, entry)));
    const parts = shortened(heaviestFirst(row).map((entry) => `${other(entry)} ${entry.text}`));
    const head = picture.dataset.heads ? `Head ${h + data.base}: ` : "";
    return `${head}${side === "q" ? queryName(at) : keyName(at)} ${side === "q" ? "attends to" : "is attended to by"} ${parts.join(", ") || "nothing"}.`;
  }).join(" ");
}

function redraw(picture) {
  const most = largest(weighed);
  for (const line of $$("line", picture)) {
    const share = Math.abs(entryOn(weighed, numberIn(line, "j"), numberIn(line, "i"), headIn(line)).value) / most;
    line.setAttribute("stroke-width", share >= 0.01 ? (0.75 + 5 * share).toFixed(2) : "0");
    line.setAttribute("opacity", share >= 0.01 ? (0.25 + 0.75 * share).toFixed(2) : "0");
  }
  for (const text of tokensOf(picture)) text.ariaLabel = `${queryNames ? `${text.dataset.q ? "query" : "key"} ` : ""}${attended(picture, tokenAt(text))}`;
}

// The lines of one token alone, in every picture; null for all.
let solo = null;
function showAlone(token) {
  solo = token;
  for (const picture of drawings()) {
    for (const line of $$("line", picture)) line.classList.toggle("away", Boolean(token) && numberIn(line, token.side === "q" ? "i" : "j") !== token.at);
    const one = token && $(`[data-${token.side}="${token.at}"]`, picture);
    for (const text of tokensOf(picture)) text.classList.toggle("asked", text === one);
    picture.nextElementSibling.textContent = one ? attended(picture, token) : "";
  }
}

// Each picture is one stop of the Tab key; arrows go from token to token.
function preparePicture(picture) {
  picture.role = "group";
  picture.ariaLabel = `Lines from queries to keys${picture.dataset.h ? `, head ${headIn(picture) + data.base}` : ""}`;
  const tokens = tokensOf(picture);
  for (const text of tokens) text.role = "button";
  stopOn(tokens[0], tokens);
  const frame = make("div", make("p", "", { class: "told" }));
  picture.replaceWith(frame);
  frame.prepend(picture);
  redraw(picture);
}

const ALONG = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity, ArrowLeft: "q", ArrowRight: "k" };
const tokenIn = (event) => event.target.closest?.(".lines-between [data-q], .lines-between [data-k]");
document.addEventListener("keydown", (event) => {
  const text = tokenIn(event);
  const along = ALONG[event.key];
  if (!text || along === undefined) return;
  const { side, at } = tokenAt(text);
  const isAcross = typeof along === "string";
  nearestIn($$(`[data-${isAcross ? along : side}]`, text.parentElement), isAcross ? at : at + along).focus();
  event.preventDefault();
});
document.addEventListener("focusin", (event) => {
  const text = tokenIn(event);
  if (!text) return;
  stopOn(text, tokensOf(text.parentElement));
  showAlone(tokenAt(text));
});
document.addEventListener("focusout", (event) => { if (tokenIn(event)) showAlone(null); });
document.addEventListener("pointerover", (event) => {
  const text = tokenIn(event);
  if (text) return showAlone(tokenAt(text));
  const focused = document.activeElement?.closest(".lines-between text");
  if (solo && event.pointerType === "mouse") showAlone(focused ? tokenAt(focused) : null);
});
document.addEventListener("click", (event) => tokenIn(event)?.focus());
keysWhile(() => solo, { Escape: () => showAlone(null) });

// Heads side by side, one alone, or all in one picture, each with a colour and a pattern of its own.
const STYLES_OF_HEADS = [5, 4];
const styleOf = (h) => STYLES_OF_HEADS.map((count, k) => `${"cd"[k]}${h % count}`).join(" ");

function overlaid(pictures) {
  const whole = pictures[0].cloneNode(true);
  for (const line of $$("line", whole)) line.remove();
  const room = Math.min(3, 15 / pictures.length);
  const names = make("p", "", { class: "key" });
  pictures.forEach((picture, k) => {
    const { h } = picture.dataset;
    for (const line of $$("line", picture)) {
      const copy = line.cloneNode();
      copy.dataset.h = h;
      copy.setAttribute("class", styleOf(h));
      copy.setAttribute("transform", `translate(0 ${room * (k - (pictures.length - 1) / 2)})`);
      whole.prepend(copy);
    }
    const line = `<line class="${styleOf(h)}" x1="1" y1="5" x2="39" y2="5" stroke-width="3" opacity="1"></line>`;
    names.insertAdjacentHTML("beforeend", `<svg class="sample" width="40" height="10" viewBox="0 0 40 10" aria-hidden="true">${line}</svg>Head ${Number(h) + data.base}`);
  });
  whole.removeAttribute("data-h");
  whole.dataset.heads = pictures.map((picture) => picture.dataset.h).join(" ");
  const figure = make("figure", [names, whole], { class: "head", hidden: "" });
  preparePicture(whole);
  return figure;
}

for (const figure of $$("#picture .head")) figure.hidden = false;
for (const picture of drawings()) preparePicture(picture);
if (drawings().length > 1) {
  const box = $("#picture .heads");
  const figures = [...box.children];
  const whole = overlaid(drawings());
  box.append(whole);
  const shown = new Map([["Side by side", figures], ...figures.map((figure) => [$("figcaption", figure).textContent, [figure]]), ["Overlaid", [whole]]]);
  const buttons = make("div", "", { class: "which", role: "group", "aria-label": "Heads" });
  for (const [name, some] of shown) {
    const button = make("button", name, { type: "button", "aria-pressed": name === "Side by side" });
    button.addEventListener("click", () => {
      for (const figure of box.children) figure.hidden = !some.includes(figure);
      pressOne(button);
    });
    buttons.append(button);
  }
  box.before(buttons);
}

whenSettled(() => {
  for (const picture of drawings()) redraw(picture);
  if (solo) showAlone(solo);
  const dark = weighed && darkest(weighed);
  if (weighed && $(".darkest")) $(".darkest").textContent = dark === null ? "1" : pretty(textAt(weighed, dark)).replace("−", "");
});
