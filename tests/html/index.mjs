// The index of a batch of documents: links, sorting, what it says of changes and failed runs, on all screens.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { axeSource, open } from "./browser.mjs";

const looks = async (browser, file, check) => {
  for (const scheme of ["light", "dark"]) {
    const { page, watched, close } = await open(browser, file, { colorScheme: scheme });
    await page.evaluate(readFileSync(axeSource, "utf8"));
    const report = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    const grave = report.violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
    check(`has no grave faults of accessibility, ${scheme}`, grave.length === 0, grave.map((fault) => [fault.id, fault.nodes.length, fault.nodes[0].html.slice(0, 160), fault.nodes[0].failureSummary.slice(0, 200)]));
    for (const width of [360, 900]) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`fits ${width} pixels, ${scheme}`, wide <= width, wide);
    }
    check(`has no complaints, ${scheme}`, watched.complaints.length === 0, watched.complaints.slice(0, 3));
    check(`asks for nothing but itself, ${scheme}`, watched.requests.length === 1, watched.requests);
    await close();
  }
};

const content = async (page, index, check) => {
  const rows = await page.$$eval("#runs tbody tr", (all) => all.map((row) => ({ name: row.querySelector("th a").textContent, cells: [...row.cells].map((cell) => cell.dataset.v ?? cell.textContent), text: row.textContent })));
  const done = index.runs.filter((run) => run.file !== null);
  check("has a row for every run with a document", rows.map((row) => row.name).join("\n") === done.map((run) => run.name).join("\n"), rows.map((row) => row.name));
  const values = ["ranks", "gpus", "span_ns", "kernel_time_ns", "busy_pct", "exposed_comm_pct"];
  const wrong = done.filter((run, place) => values.some((value, column) => Number(rows[place].cells[column + 1]) !== run.figures[value]));
  check("shows the numbers of index.json", wrong.length === 0, wrong.map((run) => run.name));
  const changed = done.filter((run, place) => run.changes && !rows[place].text.includes(run.changes.span.verdict));
  check("says what changes mean", changed.length === 0, changed.map((run) => run.name));
  const failed = await page.$$eval("#failed dl > div", (all) => all.map((one) => [one.querySelector("dt").textContent, one.querySelector("dd").textContent]));
  const expected = index.runs.filter((run) => run.file === null).map((run) => [run.name, run.reason]);
  check("tells why runs failed", JSON.stringify(failed) === JSON.stringify(expected) && failed.length > 0, failed);
  check("cannot be harmed by names", await page.evaluate(() => document.querySelectorAll("b b, main script").length === 0 && window.harmed === undefined));
};

const use = async (page, file, check) => {
  const column = (index) => page.$$eval("#runs tbody tr", (rows, index) => rows.map((row) => row.cells[index].dataset.v ?? row.cells[index].textContent), index);
  const header = page.locator("#runs th[data-name=span_ns]");
  await header.locator("button").click();
  const sorted = (await column(3)).map(Number);
  check("sorts by a column", sorted.every((value, place) => place === 0 || value <= sorted[place - 1]) && (await header.getAttribute("aria-sort")) === "descending", sorted);
  await page.fill("#filter-all", "no such run");
  check("filters runs", (await page.$$eval("#runs tbody tr", (rows) => rows.filter((row) => row.checkVisibility()).length)) === 0);
  await page.fill("#filter-all", "");
  const links = await page.$$eval("#runs th a, .top-finding a", (all) => all.map((link) => link.getAttribute("href")));
  check("links to documents and findings", links.length > 2, links);
  for (const link of links) {
    await page.goto(new URL(link, `file://${file}`).href);
    const id = decodeURIComponent(new URL(page.url()).hash.slice(1));
    const found = await page.evaluate((id) => document.getElementById("wavesieve-document") !== null && (id === "" || document.getElementById(id)?.checkVisibility() === true), id);
    check(`${link} leads to a document`, found);
  }
};

export const checkIndex = async (browser, file, check) => {
  const index = JSON.parse(readFileSync(join(dirname(file), "index.json"), "utf8"));
  await looks(browser, file, check);
  const { page, close } = await open(browser, file);
  await content(page, index, check);
  await use(page, file, check);
  await close();
  const bare = await open(browser, file, { javaScriptEnabled: false });
  check("is readable without scripts", (await bare.page.isVisible("#runs tbody tr")) && !(await bare.page.isVisible("#theme")));
  await bare.close();
};
