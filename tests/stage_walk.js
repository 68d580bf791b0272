// Follows the query of an opened page from its first frame to its last, without motion; for each frame what is wrong.
() => {
  const find = (selector) => document.querySelector(selector);
  const box = (element) => element.getBoundingClientRect();
  const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  const frames = [];
  for (;;) {
    const faults = [];
    const where = find("#stage .where").textContent || find("#stage .seen").textContent;
    if (!/\w+.*[.]/.test(where)) faults.push("nothing is said");
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} pixels wide`);
    const focal = [...document.querySelectorAll("#stage .scheme .focal")];
    const isWorked = find("#stage .scheme") && find("#stage .line.now").textContent && !find("#others").disabled;
    if (isWorked && !focal.length) faults.push("the entry is out of sight");
    if (focal.length === 1 && !document.querySelector("#stage .scheme .lit")) faults.push("the factors of the entry are out of sight");
    for (const cell of focal.length === 1 ? focal : []) {
      if (!within(box(cell), box(cell.closest(".scroll"))) || !within(box(cell), { left: 0, right: innerWidth })) faults.push("a cell of the entry is out of sight");
    }
    const result = find("#stage .focal.result");
    if (result && (box(result).top < 0 || box(result).bottom > box(find("#stage .bar")).top)) faults.push("the entry is behind the buttons");
    for (const line of document.querySelectorAll("#stage .line")) {
      const right = box(line).left + line.scrollWidth - line.scrollLeft;
      const bottom = box(line).top + line.scrollHeight - line.scrollTop;
      const signs = [...line.querySelectorAll("mi, mn, mo, mtext")].map(box);
      const out = Math.max(0, ...signs.map((sign) => Math.max(sign.right - right, sign.bottom - bottom)));
      if (out > 0.5) faults.push(`${line.textContent} cut off by ${out}`);
    }
    const buttons = ["#back", "#onward"].map((name) => [box(find(name)).left, box(find(name)).top].map(Math.round).join()).join(" ");
    if (box(find("#onward")).bottom > innerHeight) faults.push("Next is below the screen");
    frames.push({ step: find("#contents [aria-current]").hash.slice(1), where, buttons, faults });
    if (find("#onward").getAttribute("aria-disabled") === "true") return frames;
    find("#onward").click();
  }
}
