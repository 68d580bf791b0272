// While there is a temperature, the step that it divides has it in its formula, and says what it is.

whenSettled(() => {
  const item = items.get(data.tempered);
  if (!item) return;
  const section = $(`#${CSS.escape(item.name)}`);
  for (const part of $$(".cold", section)) part.hidden = isWarm(item);
  for (const part of $$(".warm", section)) part.hidden = !isWarm(item);
  $(".tempered", section)?.remove();
  if (!isWarm(item)) return;
  const told = make("p", "with the temperature ", { class: "tempered" });
  const number = make("span", "");
  number.innerHTML = `<math>${valueOf(parsed(`${warmth.letter}||0|0`))}</math>`;
  told.append(number);
  $(".lines", section)?.append(told);
});
