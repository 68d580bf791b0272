// What if: while a button is held, steps are done in another way, as people do by mistake; what follows is computed anew,
// and the cells that differ are outlined. A short press, or a key, leaves it so until the next.

let told_before = null; // what every cell showed before
const buttonsOf = new Map(data.supposed.map((one) => [one, []]));

function suppose(one) {
  if (supposed === one) return;
  if (!supposed) told_before = new Map([...cells].map(([key, [cell]]) => [key, cell.textContent]));
  supposed = one;
  recompute();
}

const SHORT = 300; // milliseconds of a press
let pressed = null;
function buttonFor(one) {
  const button = make("button", one.instead, { type: "button", class: "supposed", "aria-pressed": "false", title: "Hold, or press to keep it so" });
  button.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pressed = { since: event.timeStamp, wasOn: supposed === one };
    suppose(one);
  });
  button.addEventListener("click", (event) => { if (event.detail === 0) suppose(supposed === one ? null : one); }); // of a key
  buttonsOf.get(one).push(button);
  return button;
}
whenLetGo(document, ({ type, timeStamp }) => {
  if (pressed && (type === "pointercancel" || pressed.wasOn || timeStamp - pressed.since > SHORT)) suppose(null);
  pressed = null;
});

keysWhile(() => supposed, { Escape: () => suppose(null) });

const offered = (some) => (some.length ? make("div", [make("span", "What if "), ...some.map(buttonFor), make("p", "", { class: "tell" })], { class: "what-if" }) : "");

for (const item of data.chunk ? [] : acts) {
  const some = data.supposed.filter(({ rules }) => rules[item.letter]);
  $(".said", sectionOf(item))?.append(offered(some));
}

whenSettled(() => {
  for (const [one, buttons] of buttonsOf)
    for (const button of buttons) {
      button.ariaPressed = supposed === one;
      if (supposed === one || !supposed) $(".tell", button.parentElement).textContent = supposed ? `The right way: ${one.tell}` : "";
    }
  for (const item of acts) sectionOf(item).classList.toggle("otherwise", Boolean(supposed?.rules[item.letter]));
  if (told_before) for (const [key, some] of cells) for (const cell of some) cell.classList.toggle("differs", supposed !== null && cell.textContent !== told_before.get(key));
  if (!supposed) told_before = null;
});
