"use strict";
/* Marks what is typed into the blanks of an exercise, by the answers in the page. */
(() => {
  const script = document.querySelector("script.practice");
  if (!script) return;
  const data = JSON.parse(script.textContent);
  const unit = data.finer * 10 ** data.digits;

  /* A decimal, with a point or a comma, a fraction, a percentage, −∞; NaN for anything else. */
  function read(text) {
    const plain = text.trim().replace(/[−–]/g, "-").replace(",", ".");
    if (/^-(inf|infinity|∞|oo)$/i.test(plain)) return -Infinity;
    const number = /^([-+]?\d*\.?\d+)(?:\s*\/\s*(\d+)|\s*(%))?$/.exec(plain);
    if (!number) return NaN;
    return Number(number[1]) / (number[2] ? Number(number[2]) : number[3] ? 100 : 1);
  }

  /* Whether a number is an answer, rounded to the digits asked for; `slack` units more are let pass. */
  function fits(number, answer, slack) {
    if (answer === null) return number === -Infinity;
    return Math.abs(number * unit - answer) <= (0.5 + slack) * data.finer + 1;
  }

  function mark(field, answer) {
    const number = read(field.value);
    const verdict = !field.value.trim() ? ""
      : Number.isNaN(number) ? "open"
      : fits(number, answer.right, 0) ? "good"
      : fits(number, answer.right, 1) ? "open" : "wrong";
    field.className = `blank ${verdict}`;
    field.setAttribute("aria-invalid", String(verdict === "wrong"));
    return { verdict, number, answer };
  }

  const sentences = {
    good: "Right so far.",
    open: "Nearly: the last digit is off, or this is not a number yet.",
    wrong: "Not right yet.",
  };

  function tell(place, marks) {
    const some = marks.filter((one) => one.verdict);
    const wrong = some.filter((one) => one.verdict === "wrong");
    const worst = ["wrong", "open", "good"].find((name) => some.some((one) => one.verdict === name));
    let words = worst ? sentences[worst] : "";
    if (some.length === marks.length && worst === "good") words = "All of this is right.";
    const why = data.mistakes.filter((_, k) => wrong.length &&
      (wrong.length > 1 || marks.length === 1) &&
      some.every((one) => fits(one.number, one.answer.others[k], 0.5)));
    if (why.length === 1) words += ` It is as if ${why[0]}`;
    place.textContent = words;
  }

  const steps = new Map();
  for (const field of document.querySelectorAll("input.blank[data-key]")) {
    const answer = data.blanks[field.dataset.key];
    if (answer) {
      if (!steps.has(answer.step)) steps.set(answer.step, []);
      steps.get(answer.step).push([field, answer]);
    } else if (field.dataset.key in data.statements) {
      const right = data.statements[field.dataset.key];
      field.addEventListener("input", () => {
        const said = field.value.trim().toLowerCase()[0];
        const verdict = said === "t" || said === "f" ? ((said === "t") === right ? "good" : "wrong") : "";
        field.className = `blank ${verdict}`;
      });
    }
  }
  for (const fields of steps.values()) {
    const place = document.createElement("p");
    place.className = "told";
    place.setAttribute("role", "status");
    fields[fields.length - 1][0].closest(".wide").after(place);
    const all = () => tell(place, fields.map(([field, answer]) => mark(field, answer)));
    for (const [field] of fields) field.addEventListener("input", all);
  }
})();
