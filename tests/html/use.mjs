// A reader at a keyboard and with a mouse: sorting, filtering, folding, copying, tooltips, links.
import { readFileSync } from "node:fs";
import { open } from "./browser.mjs";

const TABLE = "#table\\/kernel_summary";

const column = (page, table, index) =>
  page.$$eval(`${table} tbody tr`, (rows, index) => rows.filter((row) => row.checkVisibility()).map((row) => row.cells[index].dataset.v ?? row.cells[index].textContent), index);
const spoken = async (page) => {
  await page.waitForTimeout(60);
  return page.textContent("#announcer");
};

const sorting = async (page, check) => {
  const header = page.locator(`${TABLE} th[data-name=mean_ns]`);
  const index = await header.evaluate((cell) => cell.cellIndex);
  const before = await column(page, TABLE, index);
  const isOrdered = (values, sign) => values.every((value, place) => place === 0 || sign * (Number(value) - Number(values[place - 1])) >= 0);
  await header.locator("button").click();
  const falling = await column(page, TABLE, index);
  check("sorts numbers, the greatest first", isOrdered(falling, -1) && falling.length === before.length, falling);
  check("tells the order", (await header.getAttribute("aria-sort")) === "descending" && /sorted by mean, descending/.test(await spoken(page)), await spoken(page));
  await header.locator("button").press("Enter");
  check("sorts the other way by key", isOrdered(await column(page, TABLE, index), 1) && (await header.getAttribute("aria-sort")) === "ascending");
  await header.locator("button").press("Space");
  const after = await column(page, TABLE, index);
  check("returns to the first order", (await header.getAttribute("aria-sort")) === null && after.join() === before.join(), after);
  const name = page.locator(`${TABLE} th[data-name=kernel_name]`);
  await name.locator("button").click();
  const names = await column(page, TABLE, 0);
  const expected = [...names].sort(new Intl.Collator("en", { numeric: true }).compare);
  check("sorts names", names.join() === expected.join() && (await name.getAttribute("aria-sort")) === "ascending", names);
  await name.locator("button").click();
  await name.locator("button").click();

  // Missing values come last in both directions, and equal ones keep their order.
  const kept = await page.evaluate((selector) => {
    const block = document.querySelector(selector);
    const rows = [...block.querySelectorAll("tbody tr")];
    const index = block.querySelector("th[data-name=total_ns]").cellIndex;
    delete rows[0].cells[index].dataset.v;
    rows[0].cells[index].classList.add("missing");
    rows[3].cells[index].dataset.v = rows[2].cells[index].dataset.v;
    return { index, value: rows[2].cells[index].dataset.v, names: rows.map((row) => row.cells[0].textContent) };
  }, TABLE);
  const total = page.locator(`${TABLE} th[data-name=total_ns] button`);
  for (const order of ["descending", "ascending"]) {
    await total.click();
    const now = await column(page, TABLE, 0);
    check(`has missing values last, ${order}`, now.at(-1) === kept.names[0], now);
    check(`sorts stably, ${order}`, now.indexOf(kept.names[3]) === now.indexOf(kept.names[2]) + 1, now);
  }
  await total.click();
};

const filtering = async (page, check) => {
  const input = page.locator(`${TABLE} .filter input`);
  await input.fill("GEMM");
  const found = await column(page, TABLE, 0);
  const all = await page.$$eval(`${TABLE} tbody tr`, (rows) => rows.filter((row) => /gemm/i.test(row.textContent)).length);
  check("filters a table", found.length === all && all > 0, found);
  const count = await page.textContent(`${TABLE} .count`);
  check("counts the rows that match", count.startsWith(`${all} of `), count);
  check("tells how many match", (await spoken(page)).includes(`${all} of `));
  await input.fill("no such kernel at all");
  check("may match nothing", (await column(page, TABLE, 0)).length === 0);
  await input.press("Escape");
  check("forgets the filter by Escape", (await column(page, TABLE, 0)).length > all);
  await page.locator("h1").click();
  await page.keyboard.press("/");
  check("goes to the filter of all by /", await page.evaluate(() => document.activeElement.id === "filter-all"));
  await page.keyboard.type("host_bound");
  const left = await page.$$eval(".answers .table-block", (blocks) => blocks.filter((block) => block.checkVisibility()).map((block) => block.textContent.includes("host_bound")));
  check("filters all tables", left.length > 0 && left.every(Boolean), left);
  check("counts over all tables", /\d+ rows in \d+ tables, \d+ findings/.test(await page.textContent("#filter-all-count")));
  await page.keyboard.press("Escape");
  check("shows all again", await page.isVisible("#table\\/kernel_summary"));
};

const folding = async (page, check) => {
  const block = page.locator(".table-block:has(.unfold:not([hidden]))").first();
  const rows = () => block.locator("tbody tr").evaluateAll((rows) => rows.filter((row) => row.checkVisibility()).length);
  const total = await block.locator("tbody tr").count();
  check("shows the first rows", (await rows()) === 10, await rows());
  await block.locator(".unfold").click();
  check("shows all rows when asked", (await rows()) === total && total > 12, await rows());
  await block.locator(".unfold").click();
  check("folds again", (await rows()) === 10);
  const last = block.locator("tbody tr").last();
  const id = await last.getAttribute("id");
  await page.evaluate((id) => { location.hash = id; }, id);
  await page.waitForTimeout(400);
  check("follows a link to a row that is folded away", await last.isVisible() && await last.evaluate((row) => { const box = row.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }), id);
};

const findings = async (page, check) => {
  const state = () => page.$$eval("details.finding", (all) => all.map((one) => [one.dataset.priority, one.open]));
  check("opens what is high, nothing else", (await state()).every(([priority, isOpen]) => (priority === "high") === isOpen), await state());
  await page.click("[data-details=open]");
  check("expands all", (await state()).every(([, isOpen]) => isOpen));
  await page.click("[data-details=close]");
  check("collapses all", (await state()).every(([, isOpen]) => !isOpen));
  await page.locator("details.finding summary").first().press("Enter");
  check("opens by key", (await state())[0][1]);
  const toggle = page.locator(".toggle").first();
  const priority = await toggle.getAttribute("data-priority");
  await toggle.click();
  const shown = await page.$$eval("details.finding", (all) => all.filter((one) => one.checkVisibility()).map((one) => one.dataset.priority));
  check("filters by priority", !shown.includes(priority) && (await toggle.getAttribute("aria-pressed")) === "false", shown);
  await toggle.click();
};

const tooltips = async (page, check) => {
  const button = page.locator(`${TABLE} th[data-name=total_ns] button`);
  await page.mouse.move(2, 2);
  await button.focus();
  const tip = page.locator("#tip");
  check("explains a column on focus", await tip.isVisible() && (await tip.textContent()).startsWith("total_ns: "), await tip.textContent());
  check("links the explanation", (await button.getAttribute("aria-describedby")) === "tip");
  await page.keyboard.press("Escape");
  check("hides it by Escape", await tip.isHidden() && (await button.getAttribute("aria-describedby")) === null);
  // A tooltip is hidden when the page scrolls, as it may before the pointer comes.
  await page.locator(`${TABLE} th[data-name=calls] button`).scrollIntoViewIfNeeded();
  await page.waitForTimeout(100);
  await page.locator(`${TABLE} th[data-name=calls] button`).hover();
  check("explains a column under the pointer", await tip.isVisible() && (await tip.textContent()).startsWith("calls: "));
  await tip.hover();
  await page.waitForTimeout(250);
  check("stays while the pointer is on it", await tip.isVisible());
  await page.mouse.move(2, 2);
  await page.waitForTimeout(250);
  const name = page.locator(`${TABLE} button.name`).first();
  const full = await name.evaluate((one) => one.textContent);
  await name.hover();
  check("tells a long name in full", (await tip.textContent()) === full, await tip.textContent());
  await name.click();
  check("expands a long name", (await name.getAttribute("aria-expanded")) === "true" && await name.evaluate((one) => one.firstElementChild.scrollWidth <= one.clientWidth + 1));
  await name.click();
};

const keyboard = async (page, check) => {
  await page.evaluate(() => { history.replaceState(null, "", location.pathname); });
  await page.reload();
  await page.keyboard.press("Tab");
  check("has a skip link first", await page.evaluate(() => document.activeElement.className === "skip" && document.activeElement.getBoundingClientRect().top >= 0));
  await page.keyboard.press("Enter");
  check("skips to the content", await page.evaluate(() => document.activeElement.id === "content"));
  const outlines = await page.evaluate(() => {
    const faint = [];
    for (const element of document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")) {
      if (!element.checkVisibility() || element.matches(".skip")) continue;
      element.focus({ focusVisible: true, preventScroll: true });
      const style = getComputedStyle(element);
      if (document.activeElement === element && style.outlineStyle === "none") faint.push(element.outerHTML.slice(0, 90));
    }
    return faint;
  });
  check("shows where the focus is", outlines.length === 0, outlines.slice(0, 3));
};

const copying = async (browser, file, check) => {
  const { page, close } = await open(browser, file, { permissions: ["clipboard-read", "clipboard-write"] });
  const button = page.locator(`${TABLE} .command .copy`);
  const line = await page.textContent(`${TABLE} .command code`);
  await button.click();
  await page.waitForTimeout(80);
  check("copies a command", (await page.evaluate(() => navigator.clipboard.readText())) === line);
  check("says so", (await button.textContent()).trim() === "Copied" && (await spoken(page)) === "Copied");
  await page.locator(`${TABLE} .block-head .copy`).click();
  await page.waitForTimeout(80);
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
  const rows = await page.locator(`${TABLE} tbody tr`).count();
  check("copies a table", lines.length === rows + 1 && lines[0].startsWith("kernel_name\t") && lines.every((one) => one.split("\t").length === lines[0].split("\t").length), lines.slice(0, 2));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-json")]);
  check("saves its JSON", JSON.parse(readFileSync(await download.path(), "utf8")).schema === "wavesieve-document");
  await close();

  for (const works of [true, false]) {
    const insecure = `Object.defineProperty(window, "isSecureContext", { value: false });
      window.copied = [];
      document.execCommand = (verb) => { window.copied.push(verb, document.activeElement.value ?? ""); return ${works}; };`;
    const other = await open(browser, file, {}, insecure);
    const copy = other.page.locator(`${TABLE} .command .copy`);
    await copy.click();
    await other.page.waitForTimeout(80);
    const copied = await other.page.evaluate(() => window.copied);
    check("copies without the clipboard API", copied[0] === "copy" && copied[1] === line, copied);
    check("leaves no textarea and keeps the focus", await other.page.evaluate(() => !document.querySelector("textarea") && document.activeElement.matches(".copy")));
    const label = (await copy.textContent()).trim();
    check(works ? "says that it was copied" : "says what to press", label === (works ? "Copied" : "Press Ctrl+C"), label);
    if (!works) check("selects what to copy", (await other.page.evaluate(() => String(getSelection()))) === line);
    check("has no complaints", other.watched.complaints.length === 0, other.watched.complaints);
    await other.close();
  }
};

export const checkUse = async (browser, file, check) => {
  const { page, watched, close } = await open(browser, file);
  await sorting(page, check);
  await page.reload();
  await filtering(page, check);
  await findings(page, check);
  await tooltips(page, check);
  await folding(page, check);
  await keyboard(page, check);
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();
  await copying(browser, file, check);
};
