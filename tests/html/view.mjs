// The page of `wavesieve view`, used as a reader does: view.mjs BINARY INPUT
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { axeSource, launch } from "./browser.mjs";

const [, , binary, input] = process.argv;
const faults = [];
let count = 0;
const check = (what, isTrue, found = "") => {
  count += 1;
  if (!isTrue) faults.push(`${what}: ${JSON.stringify(found)?.slice(0, 300)}`);
};

const child = spawn(binary, ["view", "--quiet", "--until-closed", "2", input], { stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
const address = await new Promise((resolve) => createInterface(child.stdout).once("line", resolve));
const browser = await launch();
try {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width: colorScheme === "dark" ? 420 : 1280, height: 900 }, colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints = [];
    const origins = new Set();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => !request.url().startsWith("data:") && origins.add(new URL(request.url()).origin));
    await page.goto(address);
    await page.waitForFunction(() => document.querySelector('[data-state="timeline"]').textContent === "");
    await page.waitForFunction(() => document.querySelector("#timeline-new canvas"));
    await page.waitForFunction(() => /wavesieve (view|sql)/.test(document.querySelector('[data-command="timeline"] code')?.textContent));
    const drawn = () => page.$$eval("#timeline-new canvas", (all) => all.some((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 8;
    }));
    check(`${colorScheme}: draws`, await drawn());

    await page.click("#tab-findings");
    await page.waitForFunction(() => document.querySelectorAll("#findings-list .finding").length > 0);
    await page.click("#findings-list summary");
    check(`${colorScheme}: a finding opens`, (await page.$$("#findings-list .finding[open]")).length === 1);
    const commands = await page.$$eval("#findings-list .command code", (all) => all.map((code) => code.textContent));
    check(`${colorScheme}: findings have commands`, commands.some((line) => line.startsWith("wavesieve ")), commands);
    await page.click("#findings-list .finding[open] button.quiet");
    check(`${colorScheme}: a finding leads to the time line`, await page.isVisible("#timeline") && !(await page.isVisible("#findings")));

    await page.click("#tab-queries");
    await page.waitForFunction(() => document.querySelectorAll("#query-names option").length > 20);
    await page.fill("#query-name", "kernel_summary");
    await page.fill('#query-options [name="set.top"]', "3");
    await page.click("#query-form button");
    await page.waitForFunction(() => document.querySelectorAll("#query-result tbody tr").length > 0);
    check(`${colorScheme}: options are used`, (await page.$$("#query-result tbody tr")).length === 3);
    check(`${colorScheme}: a chart is drawn`, (await page.$$("#query-result svg")).length > 0);
    check(`${colorScheme}: the command has the options`, (await page.textContent('[data-command="queries"] code')).includes("--top=3"));

    await page.click("#tab-sql");
    await page.fill("#sql-text", "SELECT COUNT(*) AS n FROM kernel_sy");
    await page.press("#sql-text", "Control+Space");
    await page.waitForSelector("#sql-words li");
    await page.press("#sql-text", "Enter");
    check(`${colorScheme}: words complete the statement`, (await page.inputValue("#sql-text")).endsWith("FROM kernel_symbols"));
    await page.press("#sql-text", "Control+Enter");
    await page.waitForFunction(() => document.querySelectorAll("#sql-result tbody tr").length === 1);
    await page.fill("#sql-text", "SELECT nothing FROM kernels");
    await page.press("#sql-text", "Control+Enter");
    await page.waitForFunction(() => document.querySelector('[data-state="sql"].failed'));
    check(`${colorScheme}: errors are shown`, /nothing/.test(await page.textContent('[data-state="sql"]')));
    const refused = complaints.filter((text) => !/422/.test(text));
    check(`${colorScheme}: the browser complains about nothing`, refused.length === 0, refused);
    check(`${colorScheme}: nothing is loaded from elsewhere`, [...origins].join() === new URL(address).origin, [...origins]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`${colorScheme}: the page is not wider than the window`, width <= 0, width);

    for (const tab of ["timeline", "findings", "queries", "sql"]) {
      await page.click(`#tab-${tab}`);
      // The component has checks of its own.
      await page.evaluate(readFileSync(axeSource, "utf8"));
      const found = await page.evaluate(async () => (await axe.run({ exclude: [".tl"] })).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 120)}`));
      check(`${colorScheme}: ${tab} can be used by all`, found.length === 0, found);
    }
    await context.close();
  }
  check("the program ends after its last window", (await Promise.race([ended, new Promise((resolve) => setTimeout(() => resolve("still there"), 15_000))])) === 0);
} finally {
  await browser.close();
  child.kill();
}
console.log(`${count - faults.length} of ${count} checks of the page of view passed`);
if (faults.length) {
  console.error(faults.join("\n"));
  process.exit(1);
}
