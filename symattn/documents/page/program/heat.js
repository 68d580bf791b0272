// While there is a temperature, the step that it divides has it in its formula, and says what it is.
whenSettled(() => {
  const item = items.get(data.tempered);
  if (!item) return;
  const section = sectionOf(item);
  for (const part of $$(".cold", section)) part.hidden = isWarm(item);
  for (const part of $$(".warm", section)) part.hidden = !isWarm(item);
  $(".tempered", section)?.remove();
  if (!isWarm(item)) return;
  const number = makeOf("span", `<math>${valueOf(entryIn(warmth, 0))}</math>`);
  $(".lines", section)?.append(make("p", ["with the temperature ", number], { class: "tempered" }));
});
