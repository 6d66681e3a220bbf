// Seven windows of one `wavesieve view`, which share the six connections of a browser: windows.mjs BINARY INPUT
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { launch } from "./browser.mjs";

const WINDOWS = 7;
const [, , binary, input] = process.argv;
const faults = [];
let count = 0;
const check = (what, isTrue, found = "") => {
  count += 1;
  if (!isTrue) faults.push(`${what}: ${JSON.stringify(found)?.slice(0, 300)}`);
};
// Sixty steps, each of which joins millions of rows and needs the step before: about a second each in a release build.
const STEP = "SELECT COUNT(*) AS n FROM regions AS a CROSS JOIN regions AS b CROSS JOIN (SELECT duration_ns FROM regions ORDER BY region_id, process LIMIT 20) AS c";
const steps = Array.from({ length: 60 }, (_, at) => `s${at + 1} AS (${STEP} CROSS JOIN s${at} AS p WHERE a.duration_ns + b.duration_ns + c.duration_ns > p.n)`);
const SLOW = `WITH s0 AS (SELECT COUNT(*) AS n FROM regions), ${steps.join(", ")} SELECT n FROM s60`;

const child = spawn(binary, ["view", "--quiet", "--until-closed", "2", input, "--compare", input], { stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
const within = (promise, ms) => Promise.race([promise, new Promise((resolve) => setTimeout(() => resolve("still there"), ms))]);
const address = await new Promise((resolve) => createInterface(child.stdout).once("line", resolve));
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
  const complaints = [];
  const pages = [];
  for (let at = 0; at < WINDOWS; at += 1) {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(address);
    pages.push(page);
  }
  for (const [at, page] of pages.entries()) {
    await page.waitForFunction(() => document.querySelector('[data-state="timeline"]').textContent === "" && document.querySelector("#timeline-new canvas"));
    // The last one is loaded while six windows are open.
    const opened = await page.waitForFunction(() => /wavesieve (view|sql)/.test(document.querySelector('[data-command="timeline"] code')?.textContent)).then(() => true, () => false);
    check(`window ${at + 1} of ${WINDOWS} shows its time line`, opened);
  }
  await new Promise((resolve) => setTimeout(resolve, 3000));
  for (const [at, page] of pages.entries()) {
    await page.click("#tab-sql");
    await page.fill("#sql-text", `SELECT COUNT(*) AS n FROM kernels WHERE dispatch_id >= ${at}`);
    await page.press("#sql-text", "Control+Enter");
    const rows = await page.waitForFunction(() => document.querySelectorAll("#sql-result tbody tr").length === 1).then(() => true, () => false);
    check(`window ${at + 1} runs a statement`, rows, await page.textContent('[data-state="sql"]'));
    check(`window ${at + 1} knows that the program is there`, await page.isHidden("#gone"));
  }

  const [first, second] = pages;
  await first.fill("#sql-text", SLOW);
  await first.press("#sql-text", "Control+Enter");
  await first.waitForSelector("#sql-stop:not([hidden])");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  check("a slow statement runs", (await first.textContent('[data-state="sql"]')) === "Running …");
  await first.click("#sql-stop");
  await first.waitForFunction(() => /was stopped/.test(document.querySelector('[data-state="sql"]').textContent));
  check("a statement that ended cannot be stopped", await first.isHidden("#sql-stop"));

  await second.click("#tab-timeline");
  const path = second.locator("#timeline-new .tl-tools button", { hasText: "Critical path" });
  check("the critical path can be shown", await path.isVisible());
  const answered = second.waitForResponse((response) => response.url().includes("path=1"));
  await path.click();
  const lanes = await (await answered).json();
  check("the critical path has parts in lanes", lanes.path.lane.length > 5 && lanes.path.lane.some((lane) => lane >= 0), lanes.path.lane.length);
  await second.click("#tab-findings");
  await second.waitForFunction(() => document.querySelectorAll("#findings-list .finding").length > 0);
  check("findings have their evidence", (await second.$$("#findings-list .finding table tbody tr")).length > 3);
  await second.click("#tab-compare");
  await second.waitForFunction(() => document.querySelector("#compare-line canvas"));
  check("a comparison has a time line", await second.isVisible("#compare-line .tl-canvas"));
  check("nothing fails", complaints.length === 0, complaints);
  if (process.env.SHOTS) await second.screenshot({ path: `${process.env.SHOTS}/compare.png`, fullPage: true });

  // A window that is loaded again keeps the program; the last one ends it.
  for (const page of pages.slice(1)) await page.close({ runBeforeUnload: false });
  await first.reload();
  await first.waitForFunction(() => document.querySelector("#timeline-new canvas"));
  check("one window keeps the program", (await within(ended, 4000)) === "still there");
  await first.goto("about:blank");
  check("the program ends after its last window", (await within(ended, 15_000)) === 0);
  await context.close();
} finally {
  await browser.close();
  child.kill();
}
console.log(`${count - faults.length} of ${count} checks of the windows of view passed`);
if (faults.length) {
  console.error(faults.join("\n"));
  process.exit(1);
}
