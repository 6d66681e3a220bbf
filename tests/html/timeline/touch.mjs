// Fingers: one moves, two zoom, a tap pins, a finger that rests measures; the page still scrolls.
import { call, openAt, pictureOf, settled, slicesOf, until } from "./tools.mjs";

const range = (page) => call(page, "range");

export const checkTouch = async (browser, folder, check) => {
  const picture = pictureOf(folder, "usual");
  const [typical] = picture.windows;
  const { page, watched, close } = await openAt(browser, folder, "usual", "", { viewport: { width: 420, height: 900 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  const session = await page.context().newCDPSession(page);
  const send = (type, ...points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  // Fingers go from points to points in some steps.
  const swipe = async (from, to, steps = 6) => {
    await send("touchStart", ...from);
    for (let step = 1; step <= steps; step += 1) await send("touchMove", ...from.map(([x, y], at) => [x + ((to[at][0] - x) * step) / steps, y + ((to[at][1] - y) * step) / steps]));
    await send("touchEnd");
    await settled(page);
  };
  await page.evaluate(() => document.querySelector(".tl-canvas").scrollIntoView({ block: "center" }));
  await settled(page);
  const box = await page.locator(".tl-canvas").boundingBox();
  const y = box.y + 70;

  await call(page, "go", typical.start_ns + 20_000_000, typical.start_ns + 40_000_000);
  await settled(page);
  let before = await range(page);
  await swipe([[300, y]], [[200, y]]);
  let now = await until(page, () => range(page), (one) => one.start_ns !== before.start_ns);
  const length = (one) => one.end_ns - one.start_ns;
  check("a finger moves the range", now.start_ns > before.start_ns && length(now) === length(before), [before, now]);
  check("by as much as it moves", Math.abs(now.start_ns - before.start_ns - (100 * length(before)) / box.width) < length(before) / 50, [before, now]);

  before = now;
  await swipe([[180, y], [220, y]], [[80, y], [320, y]]);
  now = await until(page, () => range(page), (one) => length(one) !== length(before));
  check("two fingers zoom in", Math.abs(length(now) * 6 - length(before)) < length(before) / 20, [before, now]);
  const middle = (one) => (one.start_ns + one.end_ns) / 2;
  check("at the place between them", Math.abs(middle(now) - middle(before)) < length(before) / 20, [before, now]);
  before = now;
  await swipe([[80, y], [320, y]], [[180, y], [220, y]]);
  now = await until(page, () => range(page), (one) => length(one) !== length(before));
  check("and out", length(now) > 5 * length(before), [before, now]);
  // The finger that stays moves on, and pins nothing.
  await page.evaluate(() => document.querySelector(".tl-canvas").addEventListener("pointerdown", (event) => { window.firstFinger = event.pointerId; }, { once: true }));
  await send("touchStart", [100, y], [300, y]);
  await send("touchMove", [80, y], [320, y]);
  // The protocol lifts all fingers at once, so one of them ends in the page only.
  await page.evaluate(() => document.querySelector(".tl-canvas").dispatchEvent(new PointerEvent("pointerup", { pointerId: window.firstFinger, pointerType: "touch" })));
  before = await range(page);
  for (const x of [300, 280, 260]) await send("touchMove", [80, y], [x, y]);
  await send("touchEnd");
  await settled(page);
  now = await range(page);
  check("one finger that stays moves on", now.start_ns > before.start_ns && length(now) === length(before), [before, now]);
  check("a pinch pins nothing", await page.isHidden("section[aria-label='Pinned slice']"));

  const lane = typical.lanes.find((one) => one.kind === "kernels");
  const slice = slicesOf(lane, typical.start_ns).find((one) => one.end - one.start > 100_000);
  await call(page, "go", slice.start - 100_000, slice.end + 100_000);
  await settled(page);
  const place = await call(page, "box", lane.id, slice.place);
  await swipe([[box.x + place.x + place.width / 2, box.y + place.y + place.height / 2]], [[box.x + place.x + place.width / 2 + 3, box.y + place.y + place.height / 2]], 1);
  check("a tap pins", (await until(page, () => page.textContent("section[aria-label='Pinned slice']"), (text) => text)).includes(picture.names[slice.name]));
  check("and says what it is", await page.isVisible(".tl-tip") && (await page.textContent(".tl-tip")).includes("Duration"));

  await page.evaluate(() => document.activeElement.blur());
  await send("touchStart", [120, y]);
  await page.waitForTimeout(650);
  for (const x of [160, 200, 240]) await send("touchMove", [x, y]);
  await send("touchEnd");
  await settled(page);
  check("a finger that rests measures", /Measured range/.test(await page.textContent("section[aria-label='Measured range']")) && await page.isVisible("section[aria-label='Measured range']"));

  const overview = await page.locator(".tl-overview").boundingBox();
  const at = await call(page, "overviewBox", 4);
  before = await range(page);
  await swipe([[overview.x + 250, overview.y + at.y + 5]], [[overview.x + 330, overview.y + at.y + 5]]);
  now = await range(page);
  check("a finger chooses a part of the run", length(now) > picture.span_ns / 10, now);

  await page.evaluate(() => scrollTo(0, 0));
  await settled(page);
  const up = await page.locator(".tl-canvas").boundingBox();
  before = await range(page);
  await swipe([[200, Math.min(800, up.y + 60)]], [[205, Math.min(800, up.y + 60) - 250]], 12);
  await until(page, () => page.evaluate(() => scrollY), (top) => top > 50);
  check("the page scrolls under a finger", (await page.evaluate(() => scrollY)) > 50 && (await range(page)).start_ns === before.start_ns, await page.evaluate(() => [scrollY, document.documentElement.scrollHeight, innerHeight, document.querySelector(".tl-scroller").scrollTop]));
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();
};
