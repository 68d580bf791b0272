// Screenshots of the interactive page: node screenshots.cjs KIND PATH-OF-BROWSER LOOK JOBS
// KIND is chrome or firefox; JOBS is a JSON file of {address, width, height, scale, state, file}, all in one LOOK.
// Prints for each of them what is wrong: too wide, signs that are cut off, what the console says.
const { readFileSync, writeFileSync } = require("fs");
const puppeteer = require("puppeteer-core");
const { HALF_READ } = require("./firefox_page.cjs");

// What a reader's system asks for: features for Chromium, preferences for Firefox.
const LOOKS = {
  light: [[], {}],
  dark: [[["prefers-color-scheme", "dark"]], { "layout.css.prefers-color-scheme.content-override": 0 }],
  forced: [[["forced-colors", "active"]], { "browser.display.document_color_use": 2 }],
  still: [[["prefers-reduced-motion", "reduce"]], { "ui.prefersReducedMotion": 1 }],
};

const pause = (time) => new Promise((done) => setTimeout(done, time));
const press = (page, keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

// What is done before the picture is taken.
const STATES = {
  sheet: async () => {},
  stage: async (page) => {
    await press(page, ["s"]);
    await page.evaluate(() => document.querySelector("#contents a[href='#weights']").click());
    await press(page, ["ArrowRight", "ArrowRight", "ArrowRight"]);
  },
  product: async (page) => {
    await press(page, ["s"]);
    await page.evaluate(() => document.querySelector("#contents a[href='#scores']").click());
    await press(page, ["ArrowRight", "ArrowRight"]);
  },
  edited: async (page) => {
    await page.evaluate(() => {
      document.querySelector("#given td[data-c]").focus();
      for (const key of ["3", "Enter"]) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    });
    await page.waitForSelector("main:not([aria-busy=true])");
  },
  chosen: async (page) => {
    await page.evaluate(() => {
      document.querySelector("#weights").scrollIntoView();
      document.querySelector("#weights .home tr[data-r='1'] td[data-c]").click();
    });
  },
  whole: async () => {}, // all of the page
  paper: async () => {},
};

// Of a page as it stands: what is wrong with it.
const FAULTS = () => {
  const found = [...document.querySelectorAll("msub, msup, mfrac")].filter((one) => one.children.length !== 2).map((one) => `<${one.localName}> with ${one.children.length} parts`);
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) found.push(`${scrollWidth} pixels wide`);
  for (const box of document.querySelectorAll(".line, .worked")) {
    const { left, bottom, width } = box.getBoundingClientRect();
    if (!width) continue;
    const right = left + box.clientLeft + box.scrollWidth - box.scrollLeft;
    const signs = [...box.querySelectorAll("mi, mn, mo, mtext")].map((sign) => sign.getBoundingClientRect());
    const out = Math.max(0, ...signs.map((sign) => Math.max(sign.right - right, sign.bottom - bottom)));
    if (out > 0.5) found.push(`${box.textContent.slice(0, 60)} cut off by ${out.toFixed(1)}`);
  }
  return found;
};

(async () => {
  const [kind, executablePath, look, jobs] = process.argv.slice(2);
  const [features, preferences] = LOOKS[look];
  const isChrome = kind === "chrome";
  const browser = await puppeteer.launch(
    isChrome ? { executablePath, args: ["--no-sandbox"] } : { browser: "firefox", executablePath, extraPrefsFirefox: preferences });
  try {
    for (const { address, width, height, scale, state, file } of JSON.parse(readFileSync(jobs, "utf8"))) {
      const page = await browser.newPage();
      const said = [];
      page.on("console", (message) => said.push(message.text()));
      page.on("pageerror", (error) => said.push(String(error)));
      await page.setViewport({ width, height, deviceScaleFactor: scale });
      if (isChrome) await (await page.createCDPSession()).send("Emulation.setEmulatedMedia", { features: features.map(([name, value]) => ({ name, value })) });
      await page.goto(address);
      await STATES[state](page);
      await pause(450);
      const faults = [...said.filter((words) => !HALF_READ.test(words)), ...await page.evaluate(FAULTS)];
      if (state === "paper") writeFileSync(file, await page.pdf({ format: "a4", printBackground: false }));
      else await page.screenshot({ path: file, fullPage: state === "whole" });
      if (faults.length) console.log(JSON.stringify({ file, faults }));
      await page.close();
    }
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
