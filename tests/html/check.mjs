// Opens every page of a folder in a browser and uses it: check.mjs FOLDER
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { checkIndex } from "./index.mjs";
import { checkContent } from "./content.mjs";
import { checkUse } from "./use.mjs";
import { checkManners, checkPaper } from "./manners.mjs";

const folder = process.argv[2];
const pages = readdirSync(folder).filter((name) => name.endsWith(".html")).sort();
const failures = [];
let checks = 0;
const checker = (page) => (name, holds, seen = "") => {
  checks += 1;
  if (holds) return;
  failures.push(`${page}: ${name}${seen === "" ? "" : ` (${JSON.stringify(seen).slice(0, 400)})`}`);
};

const began = performance.now();
const browser = await launch();
try {
  for (const name of pages) await checkContent(browser, join(folder, name), checker(name));
  for (const part of [checkUse, checkManners]) {
    const check = checker(`two_nodes.html, ${part.name}`);
    await part(browser, join(folder, "two_nodes.html"), check).catch((error) => check(error.stack, false));
  }
  for (const name of process.env.EVERY_PAGE ? pages : []) {
    const check = checker(`${name}, printed`);
    await checkPaper(browser, join(folder, name), check).catch((error) => check(error.stack, false));
  }
  const check = checker("batch/index.html");
  await checkIndex(browser, join(folder, "batch", "index.html"), check).catch((error) => check(error.stack, false));
} finally {
  await browser.close();
}
for (const failure of failures) console.error(`FAILED ${failure}`);
if (pages.length < 5) console.error(`error: ${folder} has ${pages.length} pages`);
const seconds = ((performance.now() - began) / 1000).toFixed(1);
console.log(`${pages.length} pages in ${seconds} s`);
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length > 0 || pages.length < 5 ? 1 : 0);
