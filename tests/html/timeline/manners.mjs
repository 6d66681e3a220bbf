// The time line in other places: dark and light, phone and large screens, without scripts, on paper; and for readers of the screen.
import { axeSource } from "../browser.mjs";
import { readFileSync } from "node:fs";
import { call, colorsAt, openAt, pictureOf, settled } from "./tools.mjs";

export const checkManners = async (browser, folder, check) => {
  for (const [width, height, deviceScaleFactor] of [[420, 800, 2], [1400, 1000, 1], [3840, 2160, 1]]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, watched, close } = await openAt(browser, folder, "usual", "", { viewport: { width, height }, deviceScaleFactor, colorScheme });
      const size = await page.evaluate(() => ({ page: document.documentElement.scrollWidth, window: innerWidth, canvas: document.querySelector(".tl-canvas").width, shown: document.querySelector(".tl-canvas").clientWidth }));
      check(`fits ${width} px, ${colorScheme}`, size.page <= size.window, size);
      check(`is sharp at ${width} px`, size.canvas === Math.round(size.shown * deviceScaleFactor), size);
      const [ground] = await colorsAt(page, ".tl-canvas", [[size.shown - 2, 6]]);
      check(`has the ground of ${colorScheme}`, ground === (colorScheme === "dark" ? "20,23,26" : "255,255,255"), ground);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/usual-${width}-${colorScheme}.png` });
      check("has no complaints", watched.complaints.length === 0, watched.complaints);
      await close();
    }
  }
  const { page, close } = await openAt(browser, folder, "usual", "", { colorScheme: "light" });
  await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; });
  await settled(page);
  const [dark] = await colorsAt(page, ".tl-canvas", [[1300, 6]]);
  check("follows the theme of the page", dark === "20,23,26", dark);
  await page.evaluate(() => { delete document.documentElement.dataset.theme; });
  await page.focus(".tl-canvas");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press(".");
  await page.keyboard.press("Enter");
  for (const fold of await page.locator(".tl-fold summary").all()) await fold.click();
  await page.waitForTimeout(300);
  const rows = await page.locator(".tl-table tbody tr").count();
  await page.check(".tl-fold[open] input");
  const [longest] = await page.locator(".tl-table tbody tr td:nth-child(2)").allTextContents();
  const lane = pictureOf(folder, "usual").windows[0].lanes[1];
  check("the longest first", longest.includes(Math.max(...lane.slices.length_ns).toLocaleString("en-US")), longest);
  await page.uncheck(".tl-fold[open] input");
  check("lists the slices of a lane", rows === 200 && (await page.textContent(".tl-fold[open] .tl-small >> nth=-1")).includes("more slices"), rows);
  // The policy of the page forbids scripts of others; the browser's tools are not bound by it.
  await page.evaluate(readFileSync(axeSource, "utf8"));
  const found = await page.evaluate(() => axe.run("#timeline", { resultTypes: ["violations"] }));
  check("has no faults that axe knows", found.violations.length === 0, found.violations.map((one) => [one.id, one.nodes[0].html.slice(0, 120), one.nodes[0].failureSummary?.slice(0, 200)]));
  await page.emulateMedia({ media: "print" });
  check("paper has the static picture", await page.isVisible(".tl-still svg") && await page.isHidden(".tl-live"));
  await page.emulateMedia({ media: "screen" });
  check("the screen does not", await page.isHidden(".tl-still"));
  await call(page, "destroy");
  check("leaves the static picture", await page.isVisible(".tl-still svg") && (await page.locator(".tl-live").count()) === 0);
  await close();

  const silent = await openAt(browser, folder, "usual", "", { javaScriptEnabled: false });
  check("is a picture without scripts", await silent.page.isVisible("#timeline svg"));
  await silent.close();
};
