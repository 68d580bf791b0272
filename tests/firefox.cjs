// The main things of the page, done in Firefox: node firefox.cjs PATH-OF-FIREFOX ADDRESS
const puppeteer = require("puppeteer-core");

(async () => {
  const [executablePath, address] = process.argv.slice(2);
  const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
  try {
    const page = await browser.newPage();
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(String(error)));
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(address);
    const title = await page.$eval("h1", (heading) => heading.textContent);
    const clipped = await page.$$eval(".line, .worked", (boxes) => boxes.map((box) => {
      const signs = [...box.querySelectorAll("mi, mn, mo, mtext")].map((sign) => sign.getBoundingClientRect());
      const { right, bottom } = box.getBoundingClientRect();
      const out = Math.max(...signs.map((sign) => Math.max(sign.right - right, sign.bottom - bottom)));
      return box.scrollWidth > innerWidth || out <= 0 ? "" : `${box.textContent} by ${out}`;
    }).filter(Boolean));
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
    await page.click("#reset");
    const reset = await page.$eval("section#weights .home tbody tr:last-child td:last-child", (cell) => cell.textContent);
    await page.setViewport({ width: 360, height: 780 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    console.log(JSON.stringify({ said, title, clipped, marks, keyboard, live, reset, wide }));
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
