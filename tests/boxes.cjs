// Boxes of a page as it is seen: node boxes.cjs PATH-OF-BROWSER ADDRESS SIGHT…
// A sight is a width, dark-WIDTH, or paper.
const { readFileSync } = require("fs");
const { join } = require("path");
const { inBrowser } = require("./firefox_page.cjs");

const measure = readFileSync(join(__dirname, "boxes.js"), "utf8").replace(/^\/\/.*\n/gm, "").trim();
const PAPER = 680; // A4 between its margins

// Chromium shows a page as a printer or a dark screen does; for Firefox the rules of its styles are made to hold.
async function emulate(page, look) {
  try {
    await page.emulateMediaType(look === "paper" ? "print" : "screen");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look === "dark" ? "dark" : "light" }]);
    return async () => {};
  } catch (error) {
    if (!/CDP/.test(error)) throw error;
  }
  return () => page.evaluate((look) => {
    const held = { paper: [["screen", "speech"], ["print", "all"]], dark: [[" and (prefers-color-scheme: dark)", ""]] }[look] ?? [];
    for (const { media } of [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])) {
      if (media) media.mediaText = held.reduce((text, [condition, other]) => text.replace(condition, other), media.mediaText);
    }
  }, look);
}

inBrowser({ width: 1280, height: 800 }, {}, async (page, address, sights) => {
  const found = {};
  for (const sight of sights) {
    const [width, look = "light"] = sight === "paper" ? [PAPER, sight] : sight.split("-").reverse();
    await page.setViewport({ width: Number(width), height: width === "375" ? 740 : 900 });
    const settle = await emulate(page, look);
    await page.goto(address);
    await settle();
    found[sight] = await page.evaluate(`(${measure})(${look === "paper"})`);
  }
  return { found };
});
