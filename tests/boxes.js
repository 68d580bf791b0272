// Goes through the states of an opened page and measures boxes, without motion; what is wrong in each of them.
// Texts and controls lie beside one another; nothing is cut off but what can be scrolled to; nothing is wider than the screen.
async (isPaper = false) => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const settled = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const short = (words) => words.trim().replace(/\s+/g, " ").slice(0, 40);
  const found = [];

  // ---- what is seen: texts, formulas and controls, each with the box that is left of it in what it scrolls in

  const CONTROL = "button, input, textarea";
  const isSeen = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !element.closest(".spoken, .skip, .away")
    && getComputedStyle(element).clipPath === "none" && !(element.closest("h1") && getComputedStyle(element.closest("h1")).clipPath !== "none");

  function* pieces() {
    for (const element of all("button, input, textarea, math, svg text")) {
      if (isSeen(element) && !element.parentElement.closest("button, math")) yield { element, boxes: [element.getBoundingClientRect()], words: short(element.textContent || element.id) };
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
      const element = node.parentElement;
      if (!node.data.trim() || element.closest(`${CONTROL}, math, svg, script, style, template, noscript`) || !isSeen(element)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      yield { element, boxes: [...range.getClientRects()], words: short(node.data) };
    }
  }

  const crosses = (style) => /auto|scroll/.test(style) ? "scrolls" : /hidden|clip/.test(style) ? "cuts" : "";

  // The part of a box that is in sight, and whether something hides the rest of it for good.
  function clipped(element, { left, right, top, bottom }) {
    let box = { left, right, top, bottom };
    let isCut = false;
    const fixed = (one) => getComputedStyle(one).position === "fixed";
    for (let outer = element; outer !== document.body && !fixed(outer); outer = outer.parentElement) {
      if (outer === element && element.matches(`${CONTROL}, math, svg *`)) continue;
      const style = getComputedStyle(outer);
      const [across, down] = [crosses(style.overflowX), crosses(style.overflowY)];
      if (!across && !down) continue;
      const place = outer.getBoundingClientRect();
      const [x, y] = [place.left + outer.clientLeft, place.top + outer.clientTop];
      const room = { left: x, right: x + outer.clientWidth, top: y, bottom: y + outer.clientHeight };
      const out = [Math.max(room.left - box.left, box.right - room.right), Math.max(room.top - box.top, box.bottom - room.bottom)];
      if (across === "cuts" && out[0] > 1.5 && style.textOverflow !== "ellipsis") isCut = true;
      if (down === "cuts" && out[1] > 0.3 * (box.bottom - box.top) && style.webkitLineClamp === "none") isCut = true;
      box = { left: Math.max(box.left, room.left), right: Math.min(box.right, room.right), top: Math.max(box.top, room.top), bottom: Math.min(box.bottom, room.bottom) };
    }
    return [box, isCut];
  }

  // What lies over others on purpose, and has a ground of its own.
  const LAYERS = ["#menu", "#controls", "#origin", "#stage .bar", "#contents"];
  const layerOf = (element) => LAYERS.find((name) => element.closest(name)) ?? "page";
  // Where the page stands as it does now, these lie beside one another too.
  const beside = (one, other) => {
    if (one === other) return true;
    const pair = [one, other].sort().join();
    const isBelow = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    if (pair === "#contents,#controls" || (scrollY < 1 && ["#contents,page", "#controls,page"].includes(pair))) return true;
    return isBelow && pair === "#stage .bar,page";
  };

  // The limits of a sum may stand out of the brackets about it.
  const heightOf = (element) => (element.matches("munderover") ? element.firstElementChild : element).getBoundingClientRect().height;

  function measure(state) {
    const say = (words) => found.push(`${state}: ${words}`);
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > innerWidth) say(`${scrollWidth} pixels wide`);
    const seen = [];
    for (const { element, boxes, words } of pieces()) {
      const layer = layerOf(element);
      for (const whole of boxes) {
        if (whole.width < 1 || whole.height < 1) continue;
        const [box, isCut] = clipped(element, whole);
        if (isCut) say(`"${words}" is cut off`);
        const [width, height] = [box.right - box.left, box.bottom - box.top];
        if (width < 1 || height < 1) continue;
        if (box.left < -1 || box.right > innerWidth + 1) say(`"${words}" is beside the ${isPaper ? "paper" : "screen"}`);
        seen.push({ element, layer, words, ...box });
      }
      const isLabel = element.matches("button") || element.matches("input:not([type=range])");
      if (isLabel && element.scrollWidth > element.clientWidth + 1 && !(element.matches("input") && element.value.length > 6)) say(`the label of "${words}" is cut off`);
    }
    seen.sort((one, other) => one.top - other.top);
    seen.forEach((one, k) => {
      for (let m = k + 1; m < seen.length && seen[m].top < one.bottom; m++) {
        const other = seen[m];
        if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element) || !beside(one.layer, other.layer)) continue;
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - other.top;
        const least = Math.min(one.bottom - one.top, other.bottom - other.top);
        if (across > 2 && down > Math.max(2, 0.25 * least)) say(`"${one.words}" and "${other.words}" lie over one another`);
      }
    });
    for (const sign of all('mo[stretchy="true"]')) {
      const whole = Math.max(...[...sign.parentElement.children].map(heightOf));
      const own = heightOf(sign);
      if (own && own < 0.85 * whole) say(`"${sign.textContent}" is ${own.toFixed()} of ${whole.toFixed()} pixels high`);
    }
    if (isPaper) return;
    for (const box of all(".line, .worked, .scroll, .falk")) {
      if (box.checkVisibility() && box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0 && !box.querySelector("[tabindex]:not([tabindex='-1'])") && !box.closest("#stage .picture-on-stage"))
        say(`"${short(box.textContent)}" cannot be scrolled by keys`);
    }
    for (const control of all("button, input")) {
      const { left, right, top, bottom } = control.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      if (!isSeen(control) || x < 0 || x > innerWidth || y < 0 || y > innerHeight) continue;
      const over = document.elementFromPoint(x, y);
      if (over && !control.contains(over) && !over.contains(control) && beside(layerOf(control), layerOf(over))) say(`"${short(control.textContent || control.id)}" is under "${short(over.textContent)}"`);
    }
  }

  // ---- the states

  measure("as it opens");
  if (isPaper) return found;
  const ROUNDED = /^\d+\.\d{4,}$/;
  const isStaged = () => document.body.classList.contains("staged");
  const go = async (state, does) => { does(); await settled(); measure(state); };
  const goes = !isStaged();
  if (isStaged()) { find("#mode").click(); await settled(); scrollTo(0, 0); await settled(); measure("all steps"); }
  await go("menu", () => find("#more").click());
  await go("menu closed", () => find("#more").click());
  const cell = find("#weights .home td[data-c]") ?? [...all(".step .home td[data-c]")].pop();
  await go("an entry chosen", () => { cell.scrollIntoView({ block: "center" }); cell.click(); });
  await settled();
  const at = find("#contents [aria-current]")?.hash;
  const section = cell.closest("main > section");
  if (at !== `#${section.id}`) found.push(`an entry chosen: of ${section.id}, and the contents mark ${at}`);
  find("#origin .close").click();
  scrollTo(0, 0);
  const open = find(".dragged td[data-c]");
  if (open) {
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await go("a field", () => { open.focus(); press("Enter"); });
    press("Escape");
  }
  await go("stage", () => find("#mode").click());
  const powers = new Map();
  const last = Number(find("#frame").max);
  const sources = all("#contents a[data-source]");
  for (let frame = 0; frame <= last + sources.length; frame++) {
    const slider = find("#frame");
    await go(`stage ${frame}`, () => {
      if (frame > last) sources[frame - last - 1].click();
      else { slider.value = frame; slider.dispatchEvent(new Event("input", { bubbles: true })); }
    });
    const { hash } = find("#contents [aria-current]");
    const say = (words) => found.push(`stage ${hash} ${frame}: ${words}`);
    for (const button of all("#controls > button")) {
      const { top, bottom } = button.getBoundingClientRect();
      if (top < -1 || bottom > innerHeight) say("the toolbar is out of sight");
    }
    const line = find("#stage .line.now");
    if (!powers.has(hash)) powers.set(hash, new Set());
    for (const one of all("msup > :last-child mn", line)) if (ROUNDED.test(one.textContent)) powers.get(hash).add(one.textContent.split(".")[1].length);
    const numbers = all("mn", line).map((one) => one.textContent);
    // a line that says the value alone, since no decimals give it, puts nothing in
    const isOne = all("#stage .focal.result").length === 1 && !find("#stage .focal.sum") && all("mo", line).filter(({ textContent }) => "=≈".includes(textContent)).length > 1;
    for (const { textContent } of isOne ? all("#stage :is(.lit, .focal):not(.result)") : []) {
      const digits = textContent.replace("−", "");
      if (ROUNDED.test(digits) && !numbers.includes(digits)) say(`${digits} is lit, and the line has ${numbers.join(" ")}`);
    }
    const isSum = (one) => [...one.firstChild.lastElementChild?.children ?? []].some((part, k) => k && part.matches("mo") && /^[+−]$/.test(part.textContent));
    // a part alone that is wider than the line is scrolled
    const goesOn = all("math", line).every((one) => one.getBoundingClientRect().width <= line.clientWidth || isSum(one));
    if (line.scrollWidth > line.clientWidth + 1 && goesOn) say(`"${short(line.textContent)}" is cut off at ${line.clientWidth} of ${line.scrollWidth} pixels`);
    if (!find("#others").disabled) {
      await go(`stage ${hash} ${frame}, all rows`, () => find("#others").click());
      find("#others").click();
    }
    scrollTo(0, document.documentElement.scrollHeight);
    await settled();
    measure(`stage ${hash} ${frame}, below`);
    scrollTo(0, 0);
  }
  for (const [hash, some] of powers) if (some.size > 1) found.push(`stage ${hash}: powers of ${[...some]} decimals`);
  await go("stage, menu", () => find("#more").click());
  find("#more").click();
  return found;
}
