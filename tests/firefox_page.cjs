// A page in Firefox or Chromium: node PROGRAM PATH-OF-BROWSER ADDRESS [ADDRESS…] prints what the program finds, and what
// the page says.
const puppeteer = require("puppeteer-core");

// Of a formula of which it has read the first half Firefox says that a part is missing, and then reads on.
const HALF_READ = /Invalid markup: Incorrect number of children/;

async function found(viewport, preferences, work) {
  const [executablePath, address, ...others] = process.argv.slice(2);
  const extraPrefsFirefox = { "ui.prefersReducedMotion": 1, ...preferences };
  const kind = executablePath.includes("firefox")
    ? { browser: "firefox", extraPrefsFirefox } : { browser: "chrome", args: ["--no-sandbox", "--force-prefers-reduced-motion"] };
  const browser = await puppeteer.launch({ executablePath, headless: true, ...kind });
  try {
    const page = await browser.newPage();
    const said = [];
    const tell = (words) => HALF_READ.test(words) || said.push(words);
    page.on("console", (message) => tell(message.text()));
    page.on("pageerror", (error) => tell(String(error)));
    await page.setViewport(viewport);
    await page.goto(address);
    return { said, ...await work(page, address, others) };
  } finally {
    await browser.close();
  }
}

const inBrowser = (...told) => found(...told)
  .then((all) => console.log(JSON.stringify(all)))
  .catch((error) => { console.error(error); process.exit(1); });

module.exports = { HALF_READ, inBrowser };
