// The main things of the page, done in Firefox, the walk over its stage, and formulas of further pages:
// node firefox.cjs PATH-OF-FIREFOX ADDRESS [ADDRESS…]
const { readFileSync } = require("fs");
const { join } = require("path");
const { inBrowser } = require("./firefox_page.cjs");

const walk = readFileSync(join(__dirname, "stage_walk.js"), "utf8").replace(/^\/\/.*\n/, "");

// Lines of which a sign is not in the box, nor to be reached by scrolling it.
const clippedOf = (page) => page.$$eval(".line, .worked", (boxes) => boxes.map((box) => {
  const signs = [...box.querySelectorAll("mi, mn, mo, mtext")].map((sign) => sign.getBoundingClientRect());
  const { left, right: end, bottom } = box.getBoundingClientRect();
  const right = Math.max(end, left + box.clientLeft + box.scrollWidth - box.scrollLeft); // which are whole pixels
  const out = Math.max(...signs.map((sign) => Math.max(sign.right - right, sign.bottom - bottom)));
  return out <= 0 ? "" : `${box.textContent} by ${out}`;
}).filter(Boolean));

inBrowser({ width: 1280, height: 800 }, {}, async (page, address, others) => {
  const title = await page.$eval(".titled", (heading) => heading.textContent);
  const clipped = await clippedOf(page);
  await page.click("section#weights .home td[data-c='1']");
  const marks = await page.$$eval("section#weights .strip td", (cells) =>
    cells.flatMap((cell) => [...cell.classList].filter((name) => /chosen|source/.test(name))).sort());
  await page.keyboard.press("ArrowRight");
  const keyboard = await page.evaluate(() => document.activeElement.key);
  await page.focus("#temperature");
  await page.$eval("#temperature", (input) => { input.value = "0.5"; });
  await page.$eval("#temperature", (input) => input.dispatchEvent(new Event("change", { bubbles: true })));
  const live = await page.evaluate(() => ({
    state: document.querySelector("#state").textContent,
    weight: symattn.value("A", 2, 2),
  }));
  await page.waitForSelector("main:not([aria-busy=true])");
  await page.$eval("#reset", (button) => button.scrollIntoView({ block: "center" })); // from under the panel
  await page.click("#reset");
  const reset = await page.$eval("section#weights .home tbody tr:last-child td:last-child", (cell) => cell.textContent);
  await page.setViewport({ width: 360, height: 780 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  const halves = await page.$$eval("msub, msup, mfrac", (all) => all.filter((one) => one.children.length !== 2).length);
  const stage = {};
  for (const [width, height] of [[375, 667], [1440, 900]]) {
    await page.setViewport({ width, height });
    await page.goto(address);
    await page.keyboard.press("s");
    stage[width] = await page.evaluate(`(${walk.trim()})()`);
  }
  await page.keyboard.press("s");
  const back = await page.$eval("#stage", (stage) => stage.getBoundingClientRect().height);
  for (const other of others) {
    await page.goto(other);
    clipped.push(...(await clippedOf(page)).map((words) => `${other}: ${words}`));
  }
  return { title, clipped, marks, keyboard, live, reset, wide, halves, stage, back };
});
