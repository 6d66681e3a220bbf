// Requests: ten million events behind a function, as `wavesieve view` answers.
import { LIGHT, call, colorsAt, openAt, scaleOf, settled, until } from "./tools.mjs";

const EVENTS = 10_000_000;
const PERIOD = 360_000;
const KINDS = ["gemm", "attention", "elementwise", "copy"];
const startOf = (event) => event * PERIOD;
const lengthOf = (event) => 100_000 + ((event * 7919) % 200) * 1000;

// The lanes of a range: events as long as a pixel for themselves, others summed up by pixel.
const answer = ({ groups, start_ns, end_ns, pixels }) => {
  const wide = Math.max(1, (end_ns - start_ns) / pixels);
  const slices = { start_ns: [], length_ns: [], name: [], kind: [], id: [], count: [], busy_ns: [] };
  const first = Math.max(0, Math.floor(start_ns / PERIOD));
  const last = Math.min(EVENTS - 1, Math.floor(end_ns / PERIOD));
  let before = start_ns;
  const push = (start, end, kind, id, count, busy) => {
    slices.start_ns.push(start - before);
    before = start;
    for (const [name, value] of Object.entries({ length_ns: end - start, name: kind, kind, id, count, busy_ns: busy })) slices[name].push(value);
  };
  const isExact = wide <= 100_000;
  const each = isExact ? 1 : Math.max(1, Math.floor(wide / PERIOD));
  for (let event = first; event <= last; event += each) {
    if (isExact) push(startOf(event), startOf(event) + lengthOf(event), event % KINDS.length, event, 1, lengthOf(event));
    else {
      const until = Math.min(last, event + each - 1);
      push(startOf(event), startOf(until) + lengthOf(until), event % KINDS.length, each > 1 ? -1 : event, until - event + 1, Math.round((until - event + 1) * 199_500));
    }
  }
  return { start_ns, end_ns, names: KINDS.map((kind) => `kernel_${kind}`), kinds: KINDS.map((id) => ({ id, label: id })), flows: [],
    lanes: [{ id: `${groups[0]}/stream/1`, group: groups[0], kind: "kernels", label: "stream 1", levels: 1, resolution_ns: isExact ? 0 : Math.floor(wide), slices }] };
};

export const checkServed = async (browser, folder, check) => {
  const { page, watched, close } = await openAt(browser, folder, "served", "", { colorScheme: "light" });
  const asked = [];
  let mode = "";
  await page.exposeFunction("ask", async (question) => {
    asked.push(question);
    if (mode === "fail") throw new Error("the server <b>is</b> away");
    // Later questions are answered sooner.
    if (mode === "slow") await new Promise((done) => setTimeout(done, Math.max(0, 400 - 150 * (asked.length % 4))));
    return answer(question);
  });
  await page.evaluate(() => {
    const host = document.getElementById("timeline");
    window.opened = [];
    host.timeline = wavesieveTimeline.mount(host, JSON.parse(document.getElementById("picture").textContent), { request: window.ask, open: (finding) => window.opened.push(finding) });
  });
  const lane = "r0g0/stream/1";
  const loaded = () => until(page, () => call(page, "box", lane, 0), Boolean);
  await loaded();
  check("asks for the whole run first", asked.length === 1 && asked[0].start_ns === 0 && asked[0].groups.join() === "r0g0,r0" && asked[0].pixels >= 1000, asked[0]);
  await settled(page);
  check("shows sums", (await call(page, "at", 700, (await call(page, "box", lane, 0)).y + 5)).id === -1);

  const event = 7_654_321;
  await call(page, "go", startOf(event) - 500_000, startOf(event) + 500_000);
  const exact = await until(page, async () => {
    const scale = await scaleOf(page);
    const box = await call(page, "box", lane, 0);
    return box && call(page, "at", scale.x(startOf(event) + 50_000), box.y + 8);
  }, (hit) => hit?.id === event);
  check("finds one of ten million events", exact?.start_ns === startOf(event) && exact.name === `kernel_${KINDS[event % 4]}`, exact);
  await call(page, "go", startOf(event) + 10, startOf(event) + 11);
  await page.waitForTimeout(200);
  const box = await call(page, "box", lane, 0);
  const [color] = await colorsAt(page, ".tl-canvas", [[700, box.y + box.height - 3]]);
  check("zooms to a nanosecond of it", (await call(page, "at", 700, box.y + 8)).id === event && color === LIGHT[KINDS[event % 4]], color);

  const before = asked.length;
  for (let at = 0; at < 20; at += 1) await call(page, "zoom", 1.4, startOf(event));
  await page.waitForTimeout(400);
  check("asks seldom while a range moves", asked.length - before <= 8, asked.length - before);
  mode = "slow";
  await call(page, "go", startOf(1000), startOf(1010));
  await page.waitForTimeout(90);
  await call(page, "go", startOf(5000), startOf(5010));
  await page.waitForTimeout(90);
  await call(page, "go", startOf(9000), startOf(9010));
  await page.waitForTimeout(700);
  const scale = await scaleOf(page);
  const last = await call(page, "at", scale.x(startOf(9004) + 50_000), box.y + 8);
  check("the last answer wins", last?.id === 9004, last);
  check("keeps a square of pixels", asked.every((one) => one.end_ns > one.start_ns && one.pixels <= 20_000 && Number.isInteger(one.start_ns) && Number.isInteger(one.end_ns)), asked.at(-1));

  mode = "fail";
  await call(page, "go", startOf(100_000), startOf(100_010));
  check("says what failed", (await until(page, () => page.textContent(".tl-status"), (text) => text.includes("away"))).includes("the server <b>is</b> away"));
  check("keeps the old picture", Boolean(await call(page, "box", lane, 0)));
  mode = "";
  await page.click(".tl-status button");
  await until(page, () => page.isHidden(".tl-status"), Boolean);
  check("tries again", await page.isHidden(".tl-status"));
  await page.selectOption(".tl-bar select", "r5g0");
  check("chooses another GPU", (await until(page, async () => asked.at(-1).groups.join(), (groups) => groups === "r5g0,r5")) === "r5g0,r5");
  const link = await until(page, () => page.evaluate(() => location.hash), (hash) => hash.includes("g=r5g0"));
  check("the address has the GPU", link.includes("g=r5g0") && /t=\d+-\d+/.test(link), link);
  await page.locator(".tl-fold summary").first().click();
  await page.click(".tl-fold ol .tl-link");
  await until(page, async () => asked.at(-1).groups[0], (group) => group === "r3g0");
  check("a place opens its GPU", asked.at(-1).groups[0] === "r3g0");
  await page.click(".tl-flag");
  check("a flag calls the page", (await page.evaluate(() => window.opened.join())) === "finding/straggler");
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();
};
