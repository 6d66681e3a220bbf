// The overview: the whole run, a row per lane, as shares of each bin.
import { sharesOf } from "./decode.js";
import { fillBox, fit, hatch, label, setFont } from "./dom.js";
import { ceil, floor, max, min, round } from "./numbers.js";
import { gutterOf } from "./layout.js";
import { stepOf, tickLabel, ticksOf } from "./time.js";
import { visible } from "./text.js";

const MARKS = 16;
const AXIS = 18;
const FLAGS = 12;
const TALLEST = 372;

export const overviewOf = (picture) => {
  const given = picture.overview ?? {};
  const bins = max(1, given.bins ?? 1);
  const lanes = (given.lanes ?? []).map((lane) => ({
    group: lane.group, label: visible(lane.label), count: lane.count ?? 1,
    shares: Object.entries(lane.shares ?? {}).map(([kind, text]) => [Number(kind), sharesOf(text, bins)]).sort((a, b) => a[0] - b[0]),
  }));
  const whole = { start: 0, end: max(1, picture.span_ns ?? 1) };
  return { bins, lanes, ticks: given.ticks ?? [], unit: visible(given.unit ?? ""), marks: given.marks ?? [], bitmap: null, whole, extent: extentOf(lanes, bins, picture.kinds, whole), binAt: (time) => time / (whole.end / bins) };
};

// The part of the run with GPU work, if that is a small part: processes often start long before it.
const extentOf = (lanes, bins, kinds, whole) => {
  let [first, last] = [bins, -1];
  for (const lane of lanes) {
    for (const [kind, shares] of lane.shares) {
      if (/^(idle:(lead|tail|paused|no_record)|missing)$/.test(kinds?.[kind]?.id)) continue;
      let [from, to] = [0, shares.length - 1];
      while (from < first && !shares[from]) from += 1;
      while (to > last && !shares[to]) to -= 1;
      if (shares[from]) first = from;
      if (shares[to]) last = to;
    }
  }
  const margin = ceil((last - first + 1) / 12);
  if (last < 0 || last - first + 1 + 2 * margin > bins / 2) return whole;
  const at = (bin) => round((whole.end / bins) * min(bins, max(0, bin)));
  return { start: at(first - margin), end: at(last + 1 + margin) };
};

export const overviewLayout = (overview, width) => {
  const count = max(1, overview.lanes.length);
  const row = max(1, min(30, floor(TALLEST / count)));
  const gutter = gutterOf(width);
  const top = FLAGS + MARKS;
  const { start, end } = overview.extent;
  const per = (width - gutter) / (end - start);
  const x = (time) => gutter + (time - start) * per;
  const time = (at) => round(start + (min(width, max(gutter, at)) - gutter) / per);
  return { row, gutter, top, bottom: top + row * count, height: top + row * count + AXIS, width, x, time };
};

// Pixels of all lanes: stacked shares, or their mean color if rows are low.
const bitmapOf = (overview, layout, palette, kinds, ratio) => {
  const width = max(1, round((layout.width - layout.gutter) * ratio));
  const rowHeight = max(1, round(layout.row * ratio));
  const height = rowHeight * overview.lanes.length;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = max(1, height);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, max(1, height));
  const words = new Uint32Array(image.data.buffer);
  const [gr, gg, gb] = palette.groundColor;
  const ground = ((255 << 24) | (gb << 16) | (gg << 8) | gr) >>> 0;
  const entries = kinds.map((kind) => palette.of(kind.id));
  const gap = rowHeight >= 8 ? max(1, round(ratio)) : 0;
  const isBlended = rowHeight < 6;
  const { start, end } = overview.extent;
  const bin = overview.binAt(start);
  const per = (overview.binAt(end) - bin) / width;
  overview.lanes.forEach((lane, place) => {
    const from = place * rowHeight;
    const inner = rowHeight - gap;
    for (let x = 0; x < width; x += 1) {
      // A column sums up the bins that it covers.
      const first = floor(bin + x * per);
      const last = max(first + 1, floor(bin + (x + 1) * per));
      const parts = [];
      for (const [kind, shares] of lane.shares) {
        let sum = 0;
        for (let bin = first; bin < last; bin += 1) sum += shares[bin] ?? 0;
        if (sum > 0) parts.push([entries[kind] ?? palette.of("other"), sum / (last - first) / 255, !/^(idle|missing)/.test(kinds[kind]?.id)]);
      }
      if (isBlended) {
        const color = [gr, gg, gb].map((value, at) => round(value + parts.reduce((sum, [entry, share]) => sum + (entry.color[at] - value) * share, 0)));
        const word = ((255 << 24) | (color[2] << 16) | (color[1] << 8) | color[0]) >>> 0;
        for (let y = 0; y < inner; y += 1) words[(from + y) * width + x] = word;
        continue;
      }
      let level = inner;
      let share = 0;
      for (const [entry, part, isWork] of parts) {
        share += part;
        // Work is a pixel high at least.
        const upTo = max(0, min(inner - round(share * inner), level - isWork));
        for (let y = level - 1; y >= upTo; y -= 1) words[(from + y) * width + x] = entry.hatched && (x + y) % 7 < 2 ? ground : entry.word >>> 0;
        level = min(level, upTo);
      }
      for (let y = level - 1; y >= 0; y -= 1) words[(from + y) * width + x] = ground;
    }
    for (let y = from + inner; y < from + rowHeight; y += 1) words.fill(ground, y * width, (y + 1) * width);
  });
  context.putImageData(image, 0, 0);
  return canvas;
};

const drawMarks = (context, overview, layout, palette, x) => {
  setFont(context, palette, 10.5);
  for (const mark of overview.marks) {
    const a = x(mark.start_ns);
    const b = max(a + 1, x(mark.end_ns));
    if (mark.kind === "change_point") {
      for (let y = FLAGS; y < layout.bottom; y += 6) fillBox(context, palette.ink, round(a), y, 1, 3);
      label(context, palette.ink, visible(mark.label), min(a + 4, layout.width - 60), FLAGS + MARKS / 2 - 1, max(60, min(320, layout.width - a - 8)));
    } else if (mark.kind === "missing") {
      fillBox(context, palette.faint, a, layout.top, b - a, layout.bottom - layout.top, 0.7);
      hatch(context, a, layout.top, b - a, layout.bottom - layout.top, palette.muted, 8);
      label(context, palette.muted, visible(mark.label), a + 3, FLAGS + MARKS / 2 - 1, b - a - 6);
    } else {
      const entry = palette.of({ prefill: "attention", decode: "elementwise", warmup: "idle:lead" }[mark.kind] ?? "other");
      fillBox(context, entry.soft, a, FLAGS, max(1, b - a - 1), MARKS - 3);
      fillBox(context, entry.fill, a, FLAGS + MARKS - 5, max(1, b - a - 1), 2);
      label(context, palette.ink, visible(mark.label), a + 4, FLAGS + MARKS / 2 - 2, b - a - 8);
    }
  }
};

export const drawOverview = (tl) => {
  const { strip: overview, palette, picture } = tl;
  const canvas = tl.el.overview;
  const width = canvas.parentElement.clientWidth;
  if (!width) return;
  const layout = overviewLayout(overview, width);
  tl.overviewLayout = layout;
  const { context, ratio } = fit(canvas, width, layout.height);
  const { start, end } = overview.extent;
  const key = `${width}|${ratio}|${palette.ground}|${start}`;
  if (overview.key !== key) {
    overview.bitmap = bitmapOf(overview, layout, palette, picture.kinds ?? [], ratio);
    overview.key = key;
  }
  const { gutter, x } = layout;
  fillBox(context, palette.ground, 0, 0, width, layout.height);
  if (overview.lanes.length) context.drawImage(overview.bitmap, gutter, layout.top, width - gutter, layout.bottom - layout.top);
  // Ticks of units of work, if there is space between them.
  const ticks = overview.ticks.filter((tick) => tick >= start && tick <= end);
  if (ticks.length && (width - gutter) / ticks.length > 2.5) {
    for (const tick of ticks) fillBox(context, palette.muted, round(x(tick)), layout.bottom, 1, 5);
  }
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width, layout.height);
  context.clip();
  drawMarks(context, overview, layout, palette, x);
  context.restore();
  setFont(context, palette, 10.5);
  context.fillStyle = palette.muted;
  const step = stepOf(end - start, max(2, (width - gutter) / 130));
  for (const at of ticksOf(start, end, 0, step)) {
    context.fillRect(round(x(at)), layout.bottom, 1, 3);
    if (x(at) + 40 < width) context.fillText(tickLabel(at, step, end), x(at) + 3, layout.bottom + 11);
  }
  if (gutter) {
    overview.lanes.forEach((lane, place) => {
      const isShown = tl.sheet.groups.has(lane.group);
      const isEdge = place === 0 || place === overview.lanes.length - 1;
      if (layout.row < 10 && !isEdge && !isShown) return;
      const y = layout.top + place * layout.row + max(layout.row / 2, 4);
      if (layout.row < 10 && !isEdge) {
        fillBox(context, palette.accent, gutter - 6, layout.top + place * layout.row, 5, max(2, layout.row));
        return;
      }
      setFont(context, palette, layout.row < 14 ? 9.5 : 11, isShown);
      label(context, isShown ? palette.ink : palette.muted, lane.label, 10, y, gutter - 16);
    });
    if (overview.unit && overview.ticks.length) {
      setFont(context, palette, 10.5);
      label(context, palette.muted, `${overview.ticks.length} × ${overview.unit}`, 10, layout.bottom + 10, gutter - 14);
    }
  }
  if (!gutter && layout.row > 13) {
    overview.lanes.forEach((lane, place) => {
      const y = layout.top + place * layout.row;
      fillBox(context, palette.ground, 2, y + 1, min(150, context.measureText(lane.label).width + 6), 12, 0.75);
      label(context, palette.ink, lane.label, 5, y + 7.5, 140);
    });
  }
  // Windows with detail.
  for (const window of tl.picture.windows ?? []) {
    const a = x(window.start_ns);
    const b = max(a + 2, x(window.end_ns));
    fillBox(context, tl.sheet.sections.some((section) => section.id === window.id) ? palette.ink : palette.muted, a, layout.bottom, b - a, 3);
  }
  // Places of findings.
  for (const place of tl.picture.places ?? []) {
    const at = x((place.start_ns + place.end_ns) / 2);
    if (at < gutter) continue;
    context.fillStyle = tl.place?.id === place.id ? palette.ink : palette.critical;
    context.beginPath();
    context.moveTo(at - 4, 1);
    context.lineTo(at + 4, 1);
    context.lineTo(at, FLAGS - 2);
    context.fill();
  }
  drawBrush(tl, context, layout, palette, x);
};

// The range of the detail is an open box over the run.
const drawBrush = (tl, context, layout, palette, x) => {
  const { width, gutter } = layout;
  const side = (id) => tl.groups.get(id)?.side;
  const isPair = tl.sheet.sections.length > 1;
  for (const section of tl.sheet.sections.length ? tl.sheet.sections : [{ shift: 0 }]) {
    // Around the lanes of its side.
    const lanes = tl.strip.lanes.map((lane) => !isPair || side(lane.group) === side(section.group));
    const top = layout.top + max(0, lanes.indexOf(true)) * layout.row;
    const bottom = isPair ? layout.top + (lanes.lastIndexOf(true) + 1) * layout.row : layout.bottom;
    const a = max(gutter, min(width - 2, x(tl.range.start + section.shift)));
    const b = min(width, max(a + 2, x(tl.range.end + section.shift)));
    context.fillStyle = palette.ground;
    context.globalAlpha = 0.3;
    if (!isPair) {
      context.fillRect(gutter, layout.top, max(0, a - gutter), layout.bottom - layout.top);
      context.fillRect(b, layout.top, max(0, width - b), layout.bottom - layout.top);
    }
    context.globalAlpha = 1;
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    context.strokeRect(a, top - 1, max(2, b - a), bottom - top + 2);
    context.fillStyle = palette.ink;
    if (b - a > 12) for (const at of [a, b]) context.fillRect(at - 1.5, (top + bottom) / 2 - 7, 3, 14);
  }
};
