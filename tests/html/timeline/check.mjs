// Opens the time lines of a folder in a browser and uses them: check.mjs FOLDER
import { launch } from "../browser.mjs";
import { checkDrawn, checkEdges } from "./drawn.mjs";
import { checkManners } from "./manners.mjs";
import { checkServed } from "./served.mjs";
import { checkSpeed } from "./speed.mjs";
import { checkTouch } from "./touch.mjs";
import { checkUse } from "./use.mjs";

const folder = process.argv[2];
const failures = [];
let checks = 0;
const began = performance.now();
const browser = await launch();
try {
  for (const part of [checkDrawn, checkEdges, checkUse, checkTouch, checkManners, checkServed, checkSpeed]) {
    const check = (name, holds, seen = "") => {
      checks += 1;
      if (!holds) failures.push(`time line, ${part.name}: ${name}${seen === "" ? "" : ` (${JSON.stringify(seen)?.slice(0, 500)})`}`);
    };
    const start = performance.now();
    await part(browser, folder, check).catch((error) => check(error.stack, false));
    if (process.env.TIMES) console.log(part.name, `${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
} finally {
  await browser.close();
}
for (const failure of failures) console.error(`FAILED ${failure}`);
console.log(`time line in ${((performance.now() - began) / 1000).toFixed(1)} s`);
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length > 0 || checks < 200 ? 1 : 0);
