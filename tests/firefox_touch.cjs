// The stage of each page under a finger: node firefox_touch.cjs PATH-OF-BROWSER ADDRESS [ADDRESS…]
// In Firefox the finger is WebDriver BiDi's pointer of type touch.
const { inBrowser } = require("./firefox_page.cjs");

const touched = async (page) => {
  const drag = async ([x, y], [toX, toY]) => {
    const finger = await page.touchscreen.touchStart(x, y);
    for (let part = 1; part <= 8; part++) await finger.move(x + ((toX - x) * part) / 8, y + ((toY - y) * part) / 8);
    await finger.end();
  };
  const boxOf = (selector) => page.$eval(selector, (element) => { const { x, y, width, height } = element.getBoundingClientRect(); return { x, y, width, height }; });
  const middle = async (selector) => { const { x, y, width, height } = await boxOf(selector); return [x + width / 2, y + height / 2]; };
  const tap = async (selector) => page.touchscreen.tap(...await middle(selector));
  const state = () => page.evaluate(() => ({
    step: document.querySelector("#contents [aria-current]").hash.slice(1),
    frame: document.querySelector("#frame").value,
    last: document.querySelector("#frame").max,
    wide: document.documentElement.scrollWidth,
  }));

  await tap("#mode");
  const found = { swiped: [await state()] };
  let y;
  for (;;) {
    [, y] = await middle("#stage .where");
    await drag([300, y], [90, y]);
    const now = await state();
    if (now.step === found.swiped[found.swiped.length - 1].step) break;
    found.swiped.push(now);
  }
  await drag([90, y], [300, y]);
  found.back = (await state()).step;
  await drag([180, y], [185, y - 200]); // up is a way through the page
  found.up = (await state()).step;
  await page.evaluate(() => scrollTo(0, 0));
  // A matrix wider than the screen: a finger on it moves it, not the step.
  const boxes = await page.$$(".picture-on-stage .scroll");
  const isWide = await page.$$eval(".picture-on-stage .scroll", (all) => all.map((box) => box.scrollWidth > box.clientWidth + 1));
  const wide = boxes[isWide.indexOf(true)];
  if (wide) {
    await wide.evaluate((box) => box.scrollIntoView({ block: "center" }));
    const { y: top, height } = await wide.boundingBox();
    await drag([300, top + height / 2], [90, top + height / 2]);
  }
  found.wide = wide ? (await state()).step : null;
  await page.evaluate(() => scrollTo(0, 0));
  await tap("#onward");
  found.onward = (await state()).frame;
  const slider = await boxOf("#frame");
  const across = slider.y + slider.height / 2;
  await drag([slider.x + 8, across], [slider.x + slider.width - 4, across]);
  found.slid = await state();
  await page.evaluate(() => scrollTo(0, 0));
  found.buttons = await Promise.all(["#back", "#onward", "#mode", "#more"].map(boxOf));
  return found;
};

inBrowser({ width: 375, height: 740, hasTouch: true }, { "dom.w3c_touch_events.enabled": 1 }, async (page, _, others) => {
  const found = await touched(page);
  found.others = [];
  for (const other of others) {
    await page.goto(other);
    found.others.push(await touched(page));
  }
  return found;
});
