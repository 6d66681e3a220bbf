// Pixels have the colors that the picture says.
import { LIGHT, call, colorsAt, openAt, pictureOf, scaleOf, settled, sharesOf, slicesOf } from "./tools.mjs";

const kindId = (picture, slice) => picture.kinds[slice.kind].id;

// Boxes in the middle of wide slices, and empty places between slices.
const wideSlices = async (page, check, picture, window, title) => {
  const scale = await scaleOf(page);
  let boxes = 0;
  let empty = 0;
  for (const lane of window.lanes.filter((one) => ["kernels", "copies"].includes(one.kind))) {
    const slices = slicesOf(lane, window.start_ns);
    const visible = slices.filter(({ start, end }) => scale.x(end) > scale.gutter + 3 && scale.x(start) < scale.width - 3);
    if (!visible.length) continue;
    const box = await call(page, "box", lane.id, visible[0].place);
    const wide = visible.filter(({ start, end }) => scale.x(end) - scale.x(start) > 8).slice(0, 60);
    const points = wide.map(({ start, end }) => [Math.min(scale.width - 2, Math.max(scale.gutter + 2, scale.x(end) - 3)), box.y + 2.5]);
    const colors = await colorsAt(page, ".tl-canvas", points);
    wide.forEach((slice, at) => {
      const id = kindId(picture, slice);
      if (!LIGHT[id] || scale.x(slice.end) > scale.width) return;
      boxes += 1;
      check(`${title}: ${lane.id} has the color of ${id} at its slice`, colors[at] === LIGHT[id], { slice, seen: colors[at] });
    });
    const gaps = visible.slice(1).map((slice, at) => [visible[at].end, slice.start]).filter(([a, b]) => scale.x(b) - scale.x(a) > 6).slice(0, 40);
    const grounds = await colorsAt(page, ".tl-canvas", gaps.map(([a, b]) => [scale.x((a + b) / 2), box.y + 6]));
    for (const seen of grounds) {
      empty += 1;
      check(`${title}: ${lane.id} is empty between slices`, seen === LIGHT.ground || seen === LIGHT.grid, seen);
    }
    for (const slice of wide.slice(0, 12)) {
      const at = await call(page, "at", Math.max(scale.gutter + 1, (scale.x(slice.start) + Math.min(scale.width, scale.x(slice.end))) / 2), box.y + box.height / 2);
      check(`${title}: finds the slice at a point`, at.slice === slice.place && at.start_ns === slice.start && at.id === slice.id && at.name === picture.names[slice.name], { at, slice });
    }
  }
  return { boxes, empty };
};

const columns = async (page, check, picture, window, total) => {
  const scale = await scaleOf(page);
  const lane = window.lanes.find((one) => one.kind === "kernels");
  const slices = slicesOf(lane, window.start_ns);
  const box = await call(page, "box", lane.id, 0);
  const left = Math.ceil(scale.gutter);
  const seen = await colorsAt(page, ".tl-canvas", Array.from({ length: scale.width - left }, (_, at) => [left + at + 0.5, box.y + box.height - 2.5]));
  const borders = new Set();
  // Narrow slices count in the column where they start.
  const starts = new Map();
  const wide = new Set();
  const covered = Array.from({ length: seen.length }, () => new Map());
  for (const slice of slices) {
    const [a, b] = [scale.x(slice.start) - left, scale.x(slice.end) - left];
    if (b - a < 1.4) {
      const sums = starts.get(Math.floor(a)) ?? new Map();
      sums.set(kindId(picture, slice), (sums.get(kindId(picture, slice)) ?? 0) + b - a);
      starts.set(Math.floor(a), sums);
    } else for (let at = Math.floor(a) - 1; at <= Math.floor(b) + 1; at += 1) wide.add(at);
    for (const at of [a, b]) for (const off of [-1, 0, 1]) borders.add(Math.floor(at) + off);
    for (let at = Math.max(0, Math.floor(a)); at <= Math.min(seen.length - 1, Math.floor(b)); at += 1) {
      const id = kindId(picture, slice);
      covered[at].set(id, (covered[at].get(id) ?? 0) + Math.max(1e-9, Math.min(b, at + 1) - Math.max(a, at)));
    }
  }
  let empties = 0;
  let wrong = 0;
  let clear = 0;
  let narrow = 0;
  let sums = 0;
  seen.forEach((color, at) => {
    const near = [at - 1, at, at + 1].some((place) => covered[place]?.size);
    const isGround = color === LIGHT.ground || color === LIGHT.grid;
    if (!near) {
      empties += 1;
      if (!isGround) wrong += 1;
    }
    const sorted = [...covered[at]].sort((x, y) => y[1] - x[1]);
    // A column where narrow slices start is never empty.
    if (starts.has(at)) {
      narrow += 1;
      if (isGround) wrong += 1;
      const [first, second] = [...starts.get(at)].sort((x, y) => y[1] - x[1]);
      if (!wide.has(at) && LIGHT[first[0]] && first[1] > 1.2 * (second?.[1] ?? 0)) {
        sums += 1;
        if (color !== LIGHT[first[0]]) wrong += 1;
      }
    }
    // At borders of wide slices there is a line between them.
    if (sorted[0]?.[1] > 0.7 && LIGHT[sorted[0][0]] && !borders.has(at)) {
      clear += 1;
      if (color !== LIGHT[sorted[0][0]]) wrong += 1;
    }
  });
  total.sums += sums;
  check("columns of summed slices have the most frequent color", clear + narrow > 100 && wrong <= 2, { clear, empties, narrow, sums, wrong, of: seen.length });
};

const overview = async (page, check, picture) => {
  await call(page, "go", 0, picture.span_ns);
  await settled(page);
  const { bins } = picture.overview;
  const numbers = Object.fromEntries(picture.kinds.map((kind, at) => [kind.id, at]));
  const points = [];
  const expected = [];
  for (const at of [0, 3, 4, 7]) {
    const box = await call(page, "overviewBox", at);
    const shares = Object.fromEntries(Object.entries(picture.overview.lanes[at].shares).map(([kind, text]) => [kind, sharesOf(text)]));
    for (const column of [40.5, 200.5, 640.5, 900.5]) {
      const first = Math.floor(((column - 0.5) * bins) / Math.round(box.width));
      const inner = box.height - 1;
      const part = (id) => (shares[numbers[id]]?.[first] ?? 0) / 255;
      const blue = part("compute") * inner;
      const orange = part("exposed_communication") * inner;
      if (blue > 4) {
        points.push([box.x + column, box.y + inner - blue / 2]);
        expected.push(LIGHT.compute);
      }
      if (orange > 3) {
        points.push([box.x + column, box.y + inner - blue - orange / 2]);
        expected.push(LIGHT.exposed_communication);
      }
    }
  }
  const seen = await colorsAt(page, ".tl-overview", points);
  check("the overview stacks shares", points.length > 10 && seen.every((color, at) => color === expected[at]), { seen, expected });
};

export const checkDrawn = async (browser, folder, check) => {
  const picture = pictureOf(folder, "usual");
  const opened = await openAt(browser, folder, "usual", "", { colorScheme: "light" });
  const { page } = opened;
  const [typical] = picture.windows;
  let compared = await wideSlices(page, check, picture, typical, "whole window");
  for (const [from, length] of [[8_000_000, 6_000_000], [20_000_000, 1_500_000], [31_234_567, 300_000]]) {
    await call(page, "go", typical.start_ns + from, typical.start_ns + from + length);
    await settled(page);
    const more = await wideSlices(page, check, picture, typical, `${length} ns`);
    compared = { boxes: compared.boxes + more.boxes, empty: compared.empty + more.empty };
  }
  check("has compared boxes and empty places", compared.boxes > 40 && compared.empty > 10, compared);
  await overview(page, check, picture);
  check("has no complaints", opened.watched.complaints.length === 0, opened.watched.complaints);
  await opened.close();

  const dense = pictureOf(folder, "many");
  const crowded = await openAt(browser, folder, "many", "", { colorScheme: "light" });
  const total = { sums: 0 };
  await columns(crowded.page, check, dense, dense.windows[0], total);
  const length = dense.windows[0].end_ns - dense.windows[0].start_ns;
  await call(crowded.page, "go", dense.windows[0].start_ns, dense.windows[0].start_ns + Math.round(length / 60));
  await settled(crowded.page);
  await columns(crowded.page, check, dense, dense.windows[0], total);
  check("has compared sums", total.sums > 100, total);
  await crowded.close();
};

// Small windows, each with a hard case.
export const checkEdges = async (browser, folder, check) => {
  const picture = pictureOf(folder, "edges");
  const { page, watched, close } = await openAt(browser, folder, "edges", "", { colorScheme: "light" });
  for (const window of picture.windows) {
    await page.click(`.tl-tab >> text="${window.id}"`);
    await settled(page);
    const range = await call(page, "range");
    check(`opens ${window.id}`, range.start_ns === window.start_ns && range.end_ns === window.end_ns, range);
    const scale = await scaleOf(page);
    for (const lane of window.lanes) {
      for (const slice of slicesOf(lane, window.start_ns)) {
        const box = await call(page, "box", lane.id, slice.place);
        const isWide = scale.x(slice.end) - scale.x(slice.start) > 3;
        const x = Math.min(scale.width - 0.5, Math.max(scale.gutter + 0.5, Math.floor(scale.x(slice.start)) + (isWide ? 2 : 0.5)));
        const [color] = await colorsAt(page, ".tl-canvas", [[x, box.y + box.height - 2.5]]);
        check(`${window.id}: draws a slice of ${slice.end - slice.start} ns`, color !== LIGHT.ground && color !== LIGHT.grid, { slice, color, x });
      }
    }
  }
  await page.click('.tl-tab >> text="values"');
  await settled(page);
  const values = picture.windows.find((one) => one.id === "values").lanes[0];
  const scale = await scaleOf(page);
  for (const [at, isLow, isHigh] of [[0, true, false], [1, false, false], [2, true, true]]) {
    const box = await call(page, "box", values.id, at);
    const x = scale.x([200, 500, 800][at]);
    const [low, high] = await colorsAt(page, ".tl-canvas", [[x, box.y + box.height - 3], [x, box.y + 3]]);
    check(`a value is as high as its share: ${at}`, (low === LIGHT.copy) === isLow && (high === LIGHT.copy) === isHigh, { low, high });
  }
  await page.click('.tl-tab >> text="day"');
  const day = 86_400_000_000_000;
  await call(page, "go", day - 1, day + 5);
  await settled(page);
  let range = await call(page, "range");
  check("keeps the ends of a day", range.end_ns === day, range);
  await call(page, "go", 0, day);
  for (let at = 0; at < 130; at += 1) await call(page, "zoom", 0.5, day - 500_000);
  range = await call(page, "range");
  check("zooms to a nanosecond", range.end_ns - range.start_ns === 1 && Math.abs(range.start_ns - (day - 500_000)) <= 2, range);
  await settled(page);
  const lane = picture.windows.find((one) => one.id === "day").lanes[0];
  const box = await call(page, "box", lane.id, 1);
  const [color] = await colorsAt(page, ".tl-canvas", [[700, box.y + box.height - 2.5]]);
  check("draws what lasts longer than the screen", color === LIGHT.attention, color);
  check("finds it", (await call(page, "at", 700, box.y + 5)).start_ns === day - 1_000_000);
  check("has no complaints", watched.complaints.length === 0, watched.complaints);
  await close();

  const late = await openAt(browser, folder, "late", "", { colorScheme: "light" });
  await call(late.page, "go", 0, 60_000_000_000);
  await settled(late.page);
  const row = await call(late.page, "overviewBox", 0);
  const middle = async () => (await colorsAt(late.page, ".tl-overview", [[row.x + row.width / 2, row.y + row.height / 2]]))[0];
  check("the overview shows the part with GPU work", (await middle()) === LIGHT.compute, await middle());
  // Bins 566 to 592 are shown.
  const [tiny, above] = await colorsAt(late.page, ".tl-overview", [[row.x + (row.width * 2.5) / 26, row.y + row.height - 1.5], [row.x + (row.width * 2.5) / 26, row.y + 4]]);
  check("the overview shows the shortest work", tiny === LIGHT.compute && above !== LIGHT.compute, { tiny, above });
  await late.page.click("text=Whole run");
  await settled(late.page);
  check("and the whole run", (await middle()) !== LIGHT.compute, await middle());
  await late.close();

  const other = await openAt(browser, folder, "nothing");
  check("says that there is nothing", (await other.page.textContent(".tl-notes")).includes("no events") && other.watched.complaints.length === 0, other.watched.complaints);
  await other.close();
};
