// Times of time lines in Chromium: timeline.mjs FILE…, a line of JSON a page. MODULES and CHROMIUM as for tests/html.
import { basename } from "node:path";
import { launch, open } from "../tests/html/browser.mjs";

const FRAMES = 300;
const MOUNTS = 7;
const at = (values, share) => values[Math.min(values.length - 1, Math.floor(values.length * share))];

const browser = await launch();
for (const file of process.argv.slice(2)) {
  const { page, close } = await open(browser, file, { viewport: { width: 1400, height: 1000 } });
  await page.waitForTimeout(1_500);
  const seen = await page.evaluate(async ([frames, mounts]) => {
    const host = document.querySelector("[data-timeline]");
    const source = document.getElementById(host.dataset.timeline).textContent;
    const sorted = (values) => values.sort((a, b) => a - b);
    const next = () => new Promise((done) => requestAnimationFrame(done));
    const first = [];
    for (let tries = 0; tries < mounts; tries += 1) {
      host.timeline.destroy();
      await next();
      const began = performance.now();
      host.timeline = wavesieveTimeline.mount(host, JSON.parse(source));
      document.querySelector(".tl-canvas").getContext("2d").getImageData(0, 0, 1, 1);
      first.push(performance.now() - began);
    }
    document.querySelector(".tl-canvas").scrollIntoView({ block: "center" });
    await next();
    // Twenty steps in, twenty out, at a quarter of the range, as a wheel does; each is drawn in the frame that follows.
    const { timeline } = host;
    const [draws, intervals] = [[], []];
    let last = await next();
    for (let step = 0; step < frames; step += 1) {
      const { start_ns, end_ns } = timeline.range();
      timeline.zoom(step % 40 < 20 ? 0.8 : 1.25, start_ns + (end_ns - start_ns) / 4);
      const now = await next();
      const began = performance.now();
      timeline.drawNow();
      draws.push(performance.now() - began);
      intervals.push(now - last);
      last = now;
    }
    const picture = JSON.parse(source);
    const slices = picture.windows.flatMap((window) => window.lanes).reduce((sum, lane) => sum + lane.slices.start_ns.length, 0);
    return { slices, lanes: picture.overview.lanes.length, first: sorted(first), draws: sorted(draws), intervals: sorted(intervals) };
  }, [FRAMES, MOUNTS]);
  // CPU time of the thread of the page, which other programs do not lengthen: a zoom, all drawing that follows, and the messages that ask for them.
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const used = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "ThreadTime").value * 1000;
  const times = [];
  for (let step = 0; step < FRAMES / 2; step += 1) {
    const before = await used();
    await page.evaluate((factor) => {
      const { timeline } = document.querySelector("[data-timeline]");
      timeline.zoom(factor);
      timeline.drawNow();
    }, step % 40 < 20 ? 0.8 : 1.25);
    times.push((await used()) - before);
  }
  times.sort((a, b) => a - b);
  const { slices, lanes, first, draws, intervals } = seen;
  const numbers = { cpu_ms: at(times, 0.5), cpu_99_ms: at(times, 0.99), first_ms: at(first, 0.5), draw_ms: at(draws, 0.5), draw_99_ms: at(draws, 0.99), frame_ms: at(intervals, 0.5), frame_99_ms: at(intervals, 0.99) };
  console.log(JSON.stringify({ page: basename(file, ".html"), slices, overview_lanes: lanes, ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value.toFixed(1))])) }));
  await close();
}
await browser.close();
