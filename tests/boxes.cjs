// Boxes of a page as it is seen: node boxes.cjs PATH-OF-BROWSER ADDRESS SIGHT…
// A sight is a width, dark-WIDTH, or paper.
const { readFileSync } = require("fs");
const { join } = require("path");
const { inBrowser } = require("./firefox_page.cjs");

const measure = readFileSync(join(__dirname, "boxes.js"), "utf8").replace(/^\/\/.*\n/gm, "").trim();
const PAPER = 680; // A4 between its margins

// Chromium shows a page as on paper or in the dark.
async function emulate(page, look) {
  await page.emulateMediaType(look === "paper" ? "print" : "screen");
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look === "dark" ? "dark" : "light" }]);
}

// For Firefox the styles are made to hold that are for paper or for the dark. It prints a page that is too wide smaller.
async function restyle(page, look) {
  const held = { paper: [["screen", "speech"], ["print", "all"]], dark: [[" and (prefers-color-scheme: dark)", ""]] }[look] ?? [];
  const width = await page.evaluate((held) => {
    for (const { media } of [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])) {
      if (media) media.mediaText = held.reduce((text, [condition, other]) => text.replace(condition, other), media.mediaText);
    }
    return document.documentElement.scrollWidth;
  }, held);
  if (look === "paper") await page.setViewport({ ...page.viewport(), width });
}

inBrowser({ width: 1280, height: 800 }, {}, async (page, address, sights) => {
  const isChrome = (await page.browser().version()).startsWith("Chrome");
  const found = {};
  for (const sight of sights) {
    const [width, look = "light"] = sight === "paper" ? [PAPER, sight] : sight.split("-").reverse();
    await page.setViewport({ width: Number(width), height: width === "375" ? 740 : 900 });
    if (isChrome) await emulate(page, look);
    await page.goto(address);
    if (!isChrome) await restyle(page, look);
    found[sight] = await page.evaluate(`(${measure})(${look === "paper"})`);
  }
  return { found };
});
