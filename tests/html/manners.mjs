// The page in other places: dark and light, without storage, without scripts, on paper, on a phone.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "./browser.mjs";

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const lightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 765;

const themes = async (browser, file, check) => {
  const { page, close } = await open(browser, file, { colorScheme: "light" });
  const mark = () => page.evaluate(() => getComputedStyle(document.querySelector("#chart\\/time_breakdown svg")).getPropertyValue("--chart-ink"));
  const [light, ink] = [await ground(page), await mark()];
  check("follows a light system", lightness(light) > 0.9, light);
  await page.click("#theme");
  check("turns dark", lightness(await ground(page)) < 0.2 && (await page.getAttribute("#theme", "aria-pressed")) === "true", await ground(page));
  check("turns charts dark", (await mark()) !== ink);
  await page.reload();
  check("remembers it", lightness(await ground(page)) < 0.2);
  await page.click("#theme");
  check("turns light again", (await ground(page)) === light);
  await close();
  const forbidden = 'Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } });';
  const other = await open(browser, file, { colorScheme: "dark" }, forbidden);
  check("follows a dark system", lightness(await ground(other.page)) < 0.2);
  await other.page.click("#theme");
  check("changes without storage", lightness(await ground(other.page)) > 0.9);
  check("does not complain of storage", other.watched.complaints.length === 0, other.watched.complaints);
  await other.close();
};

export const checkPaper = async (browser, file, check) => {
  const { page, close } = await open(browser, file, { colorScheme: "dark" });
  await page.click("#theme");
  await page.click("#theme");
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const path = join(folder, "page.pdf");
  await page.pdf({ path, preferCSSPageSize: true, printBackground: true });
  const text = execFileSync("pdftotext", ["-layout", path, "-"], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  const hidden = await page.$$eval("details.finding:not([open]) .advice li:first-child", (all) => all.map((one) => one.textContent.slice(0, 30)));
  check("has findings that are closed on the screen", hidden.length > 0);
  check("prints what is closed", hidden.every((words) => text.replace(/\s+/g, " ").includes(words.trim())), hidden);
  check("prints the appendix", text.includes("What the columns mean") && /sum of (their|the) durations/.test(text));
  // A control stands by itself; advice may begin with the same word.
  check("prints no controls", !/Expand all|Collapse all|Copied|(^|\s{2})(Copy|Filter)(\s{2}|$)/m.test(text));
  check("closes again what was closed", (await page.locator("details.finding:not([open])").count()) === hidden.length);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  check("is white on paper", (await ground(page)) === "rgb(255, 255, 255)", await ground(page));
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  check("is dark on white", lightness(ink) < 0.3, ink);
  const visible = await page.$$eval(".control", (all) => all.filter((one) => one.checkVisibility()).length);
  check("has no controls on paper", visible === 0, visible);
  const rows = await page.$$eval(".folded tbody tr", (all) => all.filter((row) => !row.checkVisibility()).length);
  check("has all rows on paper", rows === 0, rows);
  await close();
};

const phone = async (browser, file, check) => {
  const { page, close } = await open(browser, file, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  const scroll = page.locator("#table\\/kernel_summary .scroll");
  const box = await scroll.evaluate((one) => ({ inner: one.scrollWidth, outer: one.clientWidth }));
  check("tables scroll in their own box", box.inner > box.outer, box);
  await scroll.evaluate((one) => { one.scrollLeft = 200; });
  const left = await page.$eval("#table\\/kernel_summary tbody th", (cell) => cell.getBoundingClientRect().left - cell.closest(".scroll").getBoundingClientRect().left);
  check("the first column stays", Math.abs(left) < 2, left);
  const small = await page.$$eval(".control", (all) => all.filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24).map((one) => one.className));
  check("controls can be hit by a finger", small.length === 0, small.slice(0, 3));
  await close();
};

const withoutScripts = async (browser, file, check) => {
  const { page, close } = await open(browser, file, { javaScriptEnabled: false });
  check("is readable without scripts", await page.isVisible("#table\\/kernel_summary tbody tr") && await page.isVisible(".finding summary"));
  check("shows no controls that do nothing", !(await page.isVisible("#filter-all")) && !(await page.isVisible("#theme")));
  await close();
};

export const checkManners = async (browser, file, check) => {
  await themes(browser, file, check);
  await checkPaper(browser, file, check);
  await phone(browser, file, check);
  await withoutScripts(browser, file, check);
};
