// The columns of a product stand below those of its second factor: all are as wide as the widest.
function align(scheme) {
  scheme.style.removeProperty("--wide");
  const widths = $$("td[data-c]", scheme).filter((cell) => !cell.closest(".left")).map((cell) => cell.getBoundingClientRect().width);
  if (widths.length) scheme.style.setProperty("--wide", `${Math.ceil(Math.max(...widths))}px`);
}

const alignAll = () => $$(".falk").forEach(align);
nowAndSettled(alignAll);
addEventListener("resize", alignAll);
