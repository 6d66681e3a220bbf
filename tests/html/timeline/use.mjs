// A reader at a keyboard and with a mouse: zoom, pan, search, measuring, pins, places, links.
import { address, call, openAt, pictureOf, scaleOf, settled, slicesOf, until } from "./tools.mjs";

const range = (page) => call(page, "range");
const length = async (page) => { const { start_ns, end_ns } = await range(page); return end_ns - start_ns; };
const spoken = (page, part) => until(page, () => page.textContent(".tl-live > .tl-unseen[aria-live]"), (text) => text.includes(part));

const keys = async (page, check, picture) => {
  const [typical, worst] = picture.windows;
  const whole = typical.end_ns - typical.start_ns;
  await page.focus(".tl-canvas");
  for (const [key, holds] of [["w", (now, before) => now < before], ["s", (now, before) => now > before], ["+", (now, before) => now < before], ["-", (now, before) => now > before]]) {
    const before = await length(page);
    await page.keyboard.press(key);
    check(`${key} zooms`, holds(await length(page), before));
  }
  await page.keyboard.press("w");
  for (const [key, sign] of [["d", 1], ["a", -1], ["ArrowRight", 1], ["ArrowLeft", -1]]) {
    const before = (await range(page)).start_ns;
    await page.keyboard.press(key);
    check(`${key} moves`, Math.sign((await range(page)).start_ns - before) === sign);
  }
  await page.keyboard.press("0");
  check("0 shows all", (await length(page)) === whole);
  await page.keyboard.press("ArrowDown");
  check("announces the lane", /idle by cause/.test(await spoken(page, "idle by cause")));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press(".");
  const first = slicesOf(typical.lanes[1], typical.start_ns);
  check("goes to a slice", (await spoken(page, picture.names[first[0].name])).includes(picture.names[first[0].name]));
  await page.keyboard.press(".");
  await page.keyboard.press("Enter");
  const title = await page.textContent(".tl-panel .tl-name");
  check("Enter pins it", first.slice(0, 3).some((slice) => picture.names[slice.name] === title), title);
  await page.keyboard.press("f");
  check("f fits it", (await length(page)) < whole / 50);
  await page.keyboard.press("m");
  const pinned = (await page.textContent("section[aria-label='Pinned slice'] .tl-facts")).replace(/Start.*/, "");
  const measured = await page.textContent("section[aria-label='Measured range']");
  check("m measures it", measured.includes(pinned.replace("Duration", "")), [pinned, measured.slice(0, 80)]);
  await page.keyboard.press("Escape");
  await page.evaluate(() => { navigator.clipboard.writeText = async (words) => { window.copied = words; }; });
  await page.keyboard.press("Control+c");
  check("Ctrl+C copies its name", (await until(page, () => page.evaluate(() => window.copied), (text) => text)) === title, await page.evaluate(() => window.copied));
  await page.evaluate(() => { window.copied = ""; });
  await page.click("text=Copy name");
  check("so does a button", (await until(page, () => page.evaluate(() => window.copied), (text) => text)) === title);
  await page.focus(".tl-canvas");
  await page.keyboard.press("Escape");
  check("Esc closes the panel", await page.isHidden("section[aria-label='Pinned slice']"));
  await page.keyboard.press("?");
  check("? lists the keys", await page.isVisible(".tl-help"));
  await page.keyboard.press("Escape");
  check("Esc closes them", await page.isHidden(".tl-help"));
  const tall = () => page.evaluate(() => document.querySelector(".tl-canvas").height);
  await page.keyboard.press("0");
  await page.keyboard.press("ArrowDown");
  await settled(page);
  const full = await tall();
  await page.keyboard.press("h");
  await settled(page);
  check("h hides a lane", (await tall()) < full && (await page.textContent(".tl-foot .tl-link")) === "Show 1 hidden lane", [full, await tall()]);
  await page.mouse.dblclick((await page.locator(".tl-canvas").boundingBox()).x + 40, (await page.locator(".tl-canvas").boundingBox()).y + 66);
  await settled(page);
  check("so does a double click on its name", (await page.textContent(".tl-foot .tl-link")) === "Show 2 hidden lanes");
  await page.click(".tl-foot .tl-link");
  await settled(page);
  check("a button shows them again", (await tall()) === full && await page.isHidden(".tl-foot .tl-link"));
  await page.focus(".tl-canvas");
  await page.keyboard.press("c");
  check("c shows the critical path", (await page.getAttribute(".tl-tools [aria-pressed]", "aria-pressed")) === "true");
  await page.keyboard.press("c");
  await page.keyboard.press("0");
  for (let at = 0; at < 80; at += 1) await page.keyboard.press("w");
  check("keys zoom to a nanosecond", (await length(page)) === 1, await range(page));
  await page.keyboard.press("n");
  check("n goes to a place", (await address(page)).length >= 0 && (await spoken(page, "Straggler")).includes("Straggler"));
  await page.click(`.tl-tab >> text="${worst.label}"`);
  check("opens the other window", (await range(page)).start_ns === worst.start_ns);
  await page.click(`.tl-tab >> text="${typical.label}"`);
};

const mouse = async (page, check, picture) => {
  const [typical] = picture.windows;
  const box = await page.locator(".tl-canvas").boundingBox();
  const whole = await length(page);
  await page.evaluate(() => document.activeElement.blur());
  await page.mouse.move(box.x + 700, box.y + 60);
  await page.mouse.wheel(0, 120);
  await page.waitForTimeout(80);
  check("the wheel scrolls the page without the focus", (await length(page)) === whole);
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(50);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await until(page, () => length(page), (now) => now < whole);
  check("the wheel zooms with Ctrl", (await length(page)) < whole);
  await page.focus(".tl-canvas");
  const before = await length(page);
  await page.mouse.wheel(0, -100);
  check("the wheel zooms with the focus", (await until(page, () => length(page), (now) => now < before)) < before);
  const start = (await range(page)).start_ns;
  await page.keyboard.down("Shift");
  await page.mouse.wheel(0, 100);
  await page.keyboard.up("Shift");
  await until(page, async () => (await range(page)).start_ns, (now) => now !== start);
  check("the wheel moves with Shift", (await range(page)).start_ns > start);
  const from = (await range(page)).start_ns;
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
  await page.mouse.up();
  check("drags", (await range(page)).start_ns > from);

  // A measured range, against the slices of the picture.
  await page.keyboard.press("0");
  await settled(page);
  const scale = await scaleOf(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 400, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const [a, b] = [400, 600].map((x) => Math.round(scale.range.start_ns + (x - scale.gutter) / scale.per));
  const kernels = typical.lanes.filter((lane) => lane.kind === "kernels").flatMap((lane) => slicesOf(lane, typical.start_ns)).filter((slice) => slice.end > a && slice.start < b);
  const panel = await page.textContent("section[aria-label='Measured range']");
  check("measures the length", panel.includes((b - a).toLocaleString("en-US")), [panel.slice(0, 90), b - a]);
  check("counts kernels", panel.includes(`${kernels.length} kernels`), [panel, kernels.length]);
  const gemm = kernels.filter((slice) => picture.kinds[slice.kind].id === "gemm").reduce((sum, slice) => sum + Math.min(b, slice.end) - Math.max(a, slice.start), 0);
  check("adds up shares", panel.includes(`Matrix products${((gemm / (b - a)) * 100).toFixed(1)}%`), [panel, gemm / (b - a)]);
  const parts = [...kernels, ...typical.lanes.filter((lane) => lane.kind === "copies").flatMap((lane) => slicesOf(lane, typical.start_ns))].map((slice) => [Math.max(a, slice.start), Math.min(b, slice.end)]);
  let busy = 0;
  let reach = a;
  for (const [from, to] of parts.filter(([from, to]) => to > from).sort((x, y) => x[0] - y[0])) {
    busy += Math.max(0, to - Math.max(from, reach));
    reach = Math.max(reach, to);
  }
  check("measures the busy share", panel.includes(`busy ${((busy / (b - a)) * 100).toFixed(1)}%`), [panel, busy / (b - a)]);
  await page.keyboard.press("Escape");

  // A pin, and its numbers.
  const lane = typical.lanes[1];
  const slices = slicesOf(lane, typical.start_ns);
  const chosen = slices.find((slice) => picture.kinds[slice.kind].id === "attention" && slice.start > typical.start_ns + 5_000_000);
  await call(page, "go", chosen.start - 400_000, chosen.end + 400_000);
  await settled(page);
  const place = await call(page, "box", lane.id, chosen.place);
  await page.mouse.move(box.x + place.x + place.width / 2, box.y + place.y + place.height / 2);
  const tip = await page.textContent(".tl-tip");
  check("a tooltip has name, duration, gap and range", tip.includes(picture.names[chosen.name]) && tip.includes("Duration") && tip.includes("Gap before") && tip.includes("layer"), tip);
  const gap = chosen.start - slices[chosen.place - 1].end;
  check("the gap is that of the lane", tip.includes(`(${gap.toLocaleString("en-US")} ns)`) || tip.includes(`${gap} ns`), [tip, gap]);
  const absolute = String(BigInt(picture.origin_ns) + BigInt(chosen.start));
  check("the recorded clock is exact", tip.includes(`${absolute} ns`), [tip, absolute]);
  await page.mouse.down();
  await page.mouse.up();
  const same = slices.filter((slice) => slice.name === chosen.name).map((slice) => slice.end - slice.start).sort((x, y) => x - y);
  const pin = await page.textContent("section[aria-label='Pinned slice']");
  check("a pin counts its name", pin.includes(`Count${same.length}`), [pin, same.length]);
  check("a pin adds up its name", pin.includes(`(${same.reduce((sum, one) => sum + one, 0).toLocaleString("en-US")} ns)`), pin);
  check("a pin has commands", pin.includes("wavesieve table kernel_summary 'traces/run 7' --kernel 'flash_attn_fwd<bf16, 128>'"), pin.slice(-300));
  check("a pin names its call", pin.includes("Launched by hipLaunchKernel"), pin);
  const link = await until(page, () => address(page), (hash) => hash.endsWith(`:${chosen.id}`));
  check("the address has the slice", link.includes(`&s=r0g0/stream/1:${chosen.id}`) && link.includes("w=typical"), link);
  return link;
};

const search = async (page, check, picture) => {
  const [typical] = picture.windows;
  await page.keyboard.press("Escape");
  await page.focus(".tl-canvas");
  await page.keyboard.press("0");
  await page.keyboard.press("/");
  check("/ goes to the search", await page.evaluate(() => document.activeElement.className === "tl-search"));
  await page.keyboard.type("^Cijk .*MT256");
  const matches = typical.lanes.flatMap((lane) => slicesOf(lane, typical.start_ns)).filter((slice) => /^Cijk .*MT256/.test(picture.names[slice.name]));
  const text = await until(page, () => page.textContent(".tl-count"), (words) => words.includes("match"));
  const sum = matches.reduce((total, slice) => total + slice.end - slice.start, 0);
  check("search counts and adds up", text.startsWith(`${matches.length} matches, ${Number((sum / 1e6).toPrecision(4))} ms`), [text, matches.length, sum]);
  await page.keyboard.press("Enter");
  check("Enter goes to a match", (await spoken(page, "Match 1 of")).includes(`Match 1 of ${matches.length}`));
  await page.keyboard.press("Enter");
  check("and to the next one", (await spoken(page, "Match 2 of")).includes("Match 2 of"));
  await page.click("[aria-label='Next match (n)']");
  await page.click("[aria-label='Next match (n)']");
  await page.click("[aria-label='Previous match (p)']");
  check("buttons go on and back", (await page.textContent(".tl-count")).endsWith(`; 3 of ${matches.length}`), await page.textContent(".tl-count"));
  await page.fill(".tl-search", "(");
  check("says that an expression is wrong", (await until(page, () => page.textContent(".tl-count"), (words) => words.startsWith("Not a"))).startsWith("Not a regular expression"));
  await page.press(".tl-search", "Escape");
  check("Esc ends the search", (await page.inputValue(".tl-search")) === "" && (await page.textContent(".tl-count")) === "");
};

const links = async (browser, folder, check, picture, link) => {
  const sent = await openAt(browser, folder, "usual", link);
  const { page } = sent;
  const [, start, end] = /t=(\d+)-(\d+)/.exec(link);
  let now = await range(page);
  check("a link opens the range", now.start_ns === Number(start) && now.end_ns === Number(end), now);
  check("a link pins the slice", (await page.textContent(".tl-panel .tl-name")).includes("flash_attn"));
  await page.click("#findings a >> nth=2");
  const place = picture.places.find((one) => one.id === "finding/straggler");
  await until(page, () => range(page), (one) => one.start_ns > place.start_ns - 20_000_000);
  now = await range(page);
  check("a finding opens its place", now.start_ns <= place.start_ns && now.end_ns >= place.end_ns && now.end_ns - now.start_ns < 2 * (place.end_ns - place.start_ns), [now, place]);
  check("in its window", (await page.getAttribute(".tl-tab >> nth=1", "aria-pressed")) === "true");
  await settled(page);
  check("a flag has its name", (await page.textContent(".tl-flag.tl-current")).includes("Straggler"));
  await page.click(".tl-flag.tl-current");
  check("a flag leads to the finding", (await address(page)) === "#finding/straggler");
  await page.goBack();
  check("and back", (await until(page, () => address(page), (hash) => hash.includes("f="))).includes("f=finding/straggler"));
  await page.evaluate(() => { location.hash = "#t=1-2&g=%zz&w=nope&f=%3Cimg%20src%3Dx%3E&s=:x"; });
  await settled(page);
  check("a wrong link harms nothing", (await range(page)).end_ns === 2 && (await page.textContent(".tl-status")).includes("<img src=x>") && sent.watched.complaints.length === 0, sent.watched.complaints);
  await sent.close();
};

const brush = async (browser, folder, check, picture) => {
  const { page, close } = await openAt(browser, folder, "usual");
  const box = await page.locator(".tl-overview").boundingBox();
  const { x: gutter, width } = await call(page, "overviewBox", 0);
  const y = (await call(page, "overviewBox", 4)).y + 5;
  const time = (x) => Math.round(((x - gutter) / width) * picture.span_ns);
  await page.mouse.move(box.x + 900, box.y + y);
  await page.mouse.down();
  await page.mouse.move(box.x + 1000, box.y + y, { steps: 5 });
  await page.mouse.up();
  let now = await range(page);
  check("the brush chooses a range", now.start_ns === time(900) && now.end_ns === time(1000), [now, time(900), time(1000)]);
  check("the window that is there opens", (await page.getAttribute(".tl-tab >> nth=1", "aria-pressed")) === "true");
  await page.mouse.move(box.x + 950, box.y + y);
  await page.mouse.down();
  await page.mouse.move(box.x + 850, box.y + y, { steps: 5 });
  await page.mouse.up();
  now = await range(page);
  check("the brush moves", Math.abs(now.start_ns - time(800)) < picture.span_ns / 500, [now, time(800)]);
  check("the overview explains a bin", /rank \d, GPU 0.*Compute/.test(await (async () => { await page.mouse.move(box.x + 500, box.y + y); return page.textContent(".tl-tip"); })()));
  await close();
};

const compared = async (browser, folder, check) => {
  const picture = pictureOf(folder, "compare");
  const { page, watched, close } = await openAt(browser, folder, "compare");
  const [base, other] = picture.windows;
  check("draws both windows from their starts", (await call(page, "box", base.lanes[1].id, 0, 0)).x !== undefined && (await call(page, "box", other.lanes[1].id, 0, 1)).y > (await call(page, "box", base.lanes[1].id, 0, 0)).y);
  const scale = await scaleOf(page);
  const first = slicesOf(other.lanes[1], other.start_ns)[3];
  const box = await call(page, "box", other.lanes[1].id, 3, 1);
  check("aligns the new one", Math.abs(box.x - scale.x(first.start - other.start_ns + base.start_ns)) < 0.01, box);
  const gone = slicesOf(base.lanes[1], base.start_ns)[4];
  const place = await call(page, "box", base.lanes[1].id, 4, 0);
  const canvas = await page.locator(".tl-canvas").boundingBox();
  await page.mouse.move(canvas.x + place.x + place.width / 2, canvas.y + place.y + 8);
  check("says that a kernel is gone", (await page.textContent(".tl-tip")).includes("gone in the new run"), gone);
  await page.click(".tl-flag");
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();
};

const hostile = async (browser, folder, check) => {
  const { page, watched, close } = await openAt(browser, folder, "hostile");
  await page.focus(".tl-canvas");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const commands = new Set();
  for (let at = 0; at < 24; at += 1) {
    await page.keyboard.press(".");
    await page.keyboard.press("Enter");
    for (const line of await page.locator(".tl-command code").allTextContents()) commands.add(line);
  }
  // No word of a name may reach the shell, and names that were cleaned are not asked for.
  const words = [...commands].map((line) => line.replace(/'traces\/run 7'/, "INPUT"));
  check("quotes names in commands", words.length > 5 && words.every((line) => /^wavesieve table \w+ INPUT --kernel ('[^']*'(\\''[^']*')*|[\w.:,/-]+)$/.test(line)), words);
  check("asks for no name that was cleaned", words.every((line) => !line.includes("⟨") && line.length < 1200) && words.some((line) => line.includes("rm -rf")), words);
  await page.locator(".tl-fold summary").last().click();
  await page.fill(".tl-search", "script|img");
  await page.waitForTimeout(300);
  const texts = await page.textContent(".tl-live");
  check("shows hostile names as text", texts.includes("<b onclick=") && texts.includes("⟨U+202E⟩") && !/[\u202e\u2028\u200b\u0000\u001b]/.test(texts));
  check("runs nothing", await page.evaluate(() => window.harmed === undefined) && (await page.locator(".tl-live img, .tl-live script").count()) === 0);
  check("fits", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();
};

export const checkUse = async (browser, folder, check) => {
  const picture = pictureOf(folder, "usual");
  const { page, watched, close } = await openAt(browser, folder, "usual", "", { colorScheme: "light" });
  await keys(page, check, picture);
  const link = await mouse(page, check, picture);
  await search(page, check, picture);
  check("asks for nothing", watched.requests.length === 1, watched.requests);
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();
  await links(browser, folder, check, picture, link);
  await brush(browser, folder, check, picture);
  await compared(browser, folder, check);
  await hostile(browser, folder, check);
};
