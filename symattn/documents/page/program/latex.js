// "Copy LaTeX": the formula of a step and its matrix with the numbers that it shows, as displays for amsmath.

const DOTS = { "⋯": "\\cdots", "⋮": "\\vdots", "⋱": "\\ddots" };

function inLatex(text) {
  if (text.endsWith("?")) return text === "?" ? text : `${inLatex(text.slice(0, -1))}?`;
  if (text === "undefined") return "\\text{undefined}";
  const [number, power] = text.replace("inf", "\\infty").split("e");
  return power ? `${number} \\cdot 10^{${Number(power)}}` : number;
}

// The table of a matrix as it is shown: elided, with the names of its rows and columns.
function latexOfTable(table, item) {
  const nameOf = (head) => data.latexNames[head.textContent] ?? `\\text{${head.textContent}}`;
  const lines = $$("tbody tr", table).map((line) => $$("td", line));
  const texts = lines.map((line) => line.map((cell) => (cell.dataset.c ? textAt(item, cell.entry.place) : cell.textContent)));
  const lacking = texts[0].map((_, k) => lackingIn(texts.map((line) => (DOTS[line[k]] || line[k] === "?" ? "" : line[k]))));
  const rows = texts.map((line, i) => line.map((text, k) => (DOTS[text] ?? inLatex(text)) + (lacking[k][i] && `\\phantom{${lacking[k][i]}}`)));
  const [across, down] = [$$("thead th", table).map(nameOf), $$("tbody th", table).map(nameOf)];
  rows.forEach((row, i) => { if (down.length) row.unshift(down[i]); });
  const head = across.length ? `${[...(down.length ? ["\\text{ }"] : []), ...across].join(" & ")} \\\\ \\hline ` : "";
  const array = `\\begin{array}{${down.length ? "r|" : ""}${"r".repeat(lacking.length)}} ${head}${rows.map((row) => row.join(" & ")).join(" \\\\ ")} \\end{array}`;
  return head || down.length ? `\\ ${array}` : `\\left[ ${array} \\right]`;
}

// A step as it stands on the page: its formula, unless a reader's numbers have taken it away, and each matrix in sight.
function latexOf(item) {
  const section = sectionOf(item);
  const { formulas, letters, exactly, warm } = item.latex;
  const bodies = section.classList.contains("edited") ? [] : [...(isWarm(item) ? warm : formulas)];
  if (bodies.length && isWarm(item)) {
    const { text, exact } = shownAs(divisor);
    bodies[bodies.length - 1] += ` \\qquad ${data.temperature[1]} ${exact ? "=" : "\\approx"} ${inLatex(text)}`;
  }
  $$(".home table", section).forEach((table, k) => {
    if (exactly && !live) { bodies.push(exactly[k]); return; }
    const [letter, came] = letters[k];
    const whole = $(".gap", table) || !data.limit || Math.max(...item.shape) <= data.limit; // not opened since
    const isEqual = (!live && whole && came) || $$("td[data-c]", table).every((cell) => cell.entry.isExact);
    bodies.push(`${letter} ${isEqual ? "=" : "\\approx"} ${item.alone ? inLatex(textAt(item, 0)) : latexOfTable(table, item)}`);
  });
  const remark = live && state() !== "proven" ? `% ${answered()}\n` : "";
  return remark + bodies.map((body) => `\\[\n${body}\n\\]`).join("\n");
}

// The step of the chosen entry.
const copyLatex = () => copy(latexOf(parsed(current).item), "LaTeX", $("#origin .origin"));
$("#origin .latex").addEventListener("click", copyLatex);
keysWhile(() => current && parsed(current).item.latex, { c: copyLatex });
