// Measures boxes in Firefox: node firefox_boxes.cjs PATH-OF-FIREFOX ADDRESS WIDTH SCHEME
const { readFileSync } = require("fs");
const { join } = require("path");
const { inFirefox } = require("./firefox_page.cjs");

const measured = readFileSync(join(__dirname, "boxes.js"), "utf8").replace(/^\/\/.*\n/gm, "");
const [width, scheme] = process.argv.slice(4);
inFirefox({ width: Number(width), height: 900 }, { "layout.css.prefers-color-scheme.content-override": scheme === "dark" ? 0 : 1 }, async (page) => ({ faults: await page.evaluate(`(${measured})()`) }));
