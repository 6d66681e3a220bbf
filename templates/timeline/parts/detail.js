// The detail: a scale, and the lanes of a sheet between two times.
import { collector, collectRow, paint } from "./bars.js";
import { firstAfter, partnersOf } from "./decode.js";
import { fillBox, fit, hatch, label, setFont } from "./dom.js";
import { RULER, layoutOf } from "./layout.js";
import { drawFlows, drawPairs, drawPath } from "./lines.js";
import { abs, max, min, round } from "./numbers.js";
import { duration, stepOf, tickLabel, ticksOf } from "./time.js";
import { visible } from "./text.js";

// The geometry of what is drawn: from times to pixels and back.
export const viewOf = (tl, width, height) => {
  const plan = layoutOf(tl.sheet, width, tl.groupLabel);
  const { start, end } = tl.range;
  const left = plan.gutter;
  const per = (width - left) / (end - start);
  const scroll = tl.el.scroller.scrollTop;
  const rows = new Map(plan.lanes.map((row) => [row.lane, row]));
  return {
    plan, left, right: width, width, height, per, scroll, start, end,
    x: (time, section) => left + (time - section.shift - start) * per,
    time: (x) => start + (x - left) / per,
    laneRow(section, index) {
      const row = rows.get(section.tracks[index]);
      return row && { ...row, top: row.top + RULER - scroll };
    },
    top: (section) => (plan.lanes.find((row) => row.section === section)?.y ?? 0) + RULER - scroll,
  };
};

const drawScale = (tl, context, view, palette) => {
  const { start, end, left, width } = view;
  const base = tl.scaleBase(start, end);
  const step = stepOf(end - start, max(2, (width - left) / 110));
  const largest = max(abs(start - base), abs(end - base));
  fillBox(context, palette.ground, 0, 0, width, RULER);
  setFont(context, palette, 11);
  for (const at of ticksOf(start, end, base, step)) {
    const x = round(left + (at - start) * view.per) + 0.5;
    fillBox(context, palette.grid, x - 0.5, RULER - 6, 1, view.height);
    context.fillStyle = palette.muted;
    if (x + 4 < width - 20) context.fillText(tickLabel(at - base, step, largest), x + 4, RULER / 2);
  }
  fillBox(context, palette.grid, 0, RULER - 1, width, 1);
  if (left > 0) {
    fillBox(context, palette.ground, 0, 0, left - 1, RULER - 1);
    label(context, palette.muted, tl.scaleText(base), 10, RULER / 2, left - 14);
  }
};

const drawOutside = (context, view, sheet, palette) => {
  // Parts of the run that have no detail here.
  const { start, end } = sheet.request && sheet.sections.length ? sheet.sections[0] : sheet;
  for (const [a, b] of [[-Infinity, start], [end, Infinity]]) {
    const x0 = max(view.left, min(view.width, view.left + (a - view.start) * view.per));
    const x1 = max(view.left, min(view.width, view.left + (b - view.start) * view.per));
    if (x1 - x0 < 1) continue;
    fillBox(context, palette.faint, x0, RULER, x1 - x0, view.height, 0.5);
    hatch(context, x0, RULER, x1 - x0, view.height - RULER, palette.grid, 9);
    setFont(context, palette, 11);
    if (x1 - x0 > 130 && !sheet.request) label(context, palette.muted, "no detail in this page; see wavesieve view", x0 + 8, view.height - 12, x1 - x0 - 12);
  }
};

const drawTexts = (context, found, palette) => {
  for (const { lane, slice, x, y, width, height, entry, isOut } of found.texts) {
    const sign = ["", "gone", "new"][lane.mark?.[slice] ?? 0];
    const events = lane.events?.[slice] ?? 1;
    const name = sign && width < 90 ? sign : (sign && `${sign}: `) + (events > 1 ? `${events} × ` : "") + tlShort(lane, slice);
    setFont(context, palette, height >= 20 ? 12 : height >= 14 ? 11 : 9.5);
    context.globalAlpha = isOut ? 0.6 : 1;
    label(context, isOut || events > 1 || lane.mark?.[slice] ? palette.ink : entry.ink, name, x + 4, y + height / 2 + 0.5, width - 8);
  }
  context.globalAlpha = 1;
};

// Short names for boxes, cleaned once.
const shorts = new WeakMap();
const tlShort = (lane, slice) => {
  let list = shorts.get(lane.section.names);
  if (!list) shorts.set(lane.section.names, (list = []));
  return (list[lane.name[slice]] ??= visible((lane.section.names[lane.name[slice]] ?? "?").slice(0, 300)));
};

const drawSigns = (context, found, palette) => {
  for (const sign of found.signs) {
    if (sign.width < 3) continue;
    if (sign.mark) {
      fillBox(context, palette.ground, sign.x, sign.y, sign.width, sign.height, 0.72);
      hatch(context, sign.x, sign.y, sign.width, sign.height, sign.entry.fill, sign.mark === 1 ? 6 : 10);
      context.strokeStyle = palette.ink;
      context.setLineDash(sign.mark === 1 ? [3, 2] : []);
      context.strokeRect(sign.x + 0.5, sign.y + 0.5, max(1, sign.width - 2), sign.height - 1);
      context.setLineDash([]);
    } else if (sign.entry.hatched) hatch(context, sign.x, sign.y, sign.width, sign.height, palette.muted, 6);
  }
};

const outline = (context, view, hit, color, width) => {
  const row = hit && view.plan.lanes.find((one) => one.lane === hit.lane);
  if (!row) return;
  const { lane, slice } = hit;
  const y = row.top + RULER - view.scroll + (lane.level?.[slice] ?? 0) * row.rowHeight;
  const x0 = max(view.left - 4, view.x(lane.start[slice], lane.section));
  const x1 = min(view.width + 4, max(x0 + 2, view.x(lane.end[slice], lane.section)));
  if (x1 < view.left || x0 > view.width) return;
  context.strokeStyle = color;
  context.lineWidth = width;
  context.strokeRect(x0 - 0.5, y + 0.5, x1 - x0 + 0.5, row.rowHeight - 1);
};

const drawLabels = (tl, context, view, palette) => {
  const { plan, scroll, left, width } = view;
  if (left > 0) {
    fillBox(context, palette.ground, 0, RULER, left - 1, view.height);
    fillBox(context, palette.grid, left - 1, 0, 1, view.height);
  }
  for (const row of plan.rows) {
    const y = row.y + RULER - scroll;
    if (y + row.height < RULER || y > view.height) continue;
    if (!row.lane) {
      // Lines of a comparison go on behind it.
      fillBox(context, palette.faint, 0, y, width, row.height - 2, 0.8);
      setFont(context, palette, 12, true);
      label(context, palette.ink, row.label, 10, y + row.height / 2 - 0.5, width - 20);
      continue;
    }
    const isFocused = tl.focus?.lane === row.lane;
    setFont(context, palette, 11.5, isFocused);
    if (isFocused) {
      fillBox(context, palette.accent, 0, row.top + RULER - scroll, 3, row.height);
    }
    label(context, isFocused ? palette.ink : palette.muted, row.lane.label, left ? 12 : 6, y + (left ? min(row.height, 26) / 2 : 7), (left || width) - 18);
  }
};

export const drawDetail = (tl) => {
  const { canvas, scroller, spacer } = tl.el;
  const width = scroller.clientWidth;
  if (!width) return;
  const palette = tl.palette;
  const layout = layoutOf(tl.sheet, width, tl.groupLabel);
  const full = max(150, layout.height + RULER);
  const height = min(full, tl.tallest());
  spacer.style.height = `${full - height}px`;
  scroller.style.height = `${height}px`;
  const { context, ratio } = fit(canvas, width, height);
  const view = viewOf(tl, width, height);
  tl.view = view;
  fillBox(context, palette.ground, 0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(0, 0, width, height);
  context.clip();
  drawOutside(context, view, tl.sheet, palette);
  drawScale(tl, context, view, palette);
  context.save();
  context.beginPath();
  context.rect(view.left, RULER, width - view.left, height - RULER);
  context.clip();
  const found = collector();
  for (const row of view.plan.lanes) {
    const y = row.top + RULER - view.scroll;
    if (y + row.height < RULER || y > height) continue;
    const shift = row.section.shift;
    row.lane.rows.forEach((one, level) => {
      const top = y + level * row.rowHeight;
      if (top + row.rowHeight < RULER || top > height) return;
      const box = { x: view.left, y: top, width: width - view.left, height: row.rowHeight, start: view.start + shift, end: view.end + shift, ratio };
      // The last slice before the range may be one of no length at its border.
      box.first = firstAfter(one, box.start) - 1;
      collectRow(found, one, row.lane, box, palette, tl.search?.sets.get(row.lane.section.names));
    });
  }
  if (tl.sheet.pairs.length) drawPairs(context, view, palette, tl.sheet, tl.hover ?? tl.pin);
  paint(context, found);
  drawSigns(context, found, palette);
  drawTexts(context, found, palette);
  if (tl.showPath) for (const section of tl.sheet.sections) drawPath(context, view, palette, section);
  for (const hit of new Set([tl.pin, tl.hover])) {
    if (hit?.slice >= 0 && hit.lane) drawFlows(context, view, palette, hit.lane.section, hit.lane, hit.slice, partnersOf(hit.lane.section, hit.lane, hit.slice));
  }
  if (tl.hover?.slice >= 0) outline(context, view, tl.hover, palette.ink, 1);
  if (tl.focus?.slice >= 0) outline(context, view, tl.focus, palette.accent, 2);
  if (tl.pin) outline(context, view, tl.pin, palette.ink, 2.5);
  if (tl.place) {
    const [a, b] = [tl.place.start, tl.place.end].map((at) => view.left + (at - view.start) * view.per);
    fillBox(context, palette.accent, a, RULER, max(1, b - a), height, 0.1);
    for (const x of [a, b]) fillBox(context, palette.accent, round(x), RULER, 1, height, 0.8);
  }
  if (tl.selection) {
    const [a, b] = [tl.selection.start, tl.selection.end].map((at) => view.left + (at - view.start) * view.per);
    fillBox(context, palette.accent, a, RULER, max(1, b - a), height, 0.14);
    for (const x of [a, b]) context.fillRect(round(x) - 0.5, RULER, 1, height);
    setFont(context, palette, 12, true);
    const words = duration(tl.selection.end - tl.selection.start);
    const size = context.measureText(words).width + 12;
    context.fillRect((a + b - size) / 2, height - 26, size, 20);
    context.fillStyle = palette.ground;
    context.fillText(words, (a + b - size) / 2 + 6, height - 16);
  }
  context.restore();
  drawLabels(tl, context, view, palette);
  if (tl.sheet.sections.every((section) => section.tracks.every((lane) => lane.count === 0))) {
    setFont(context, palette, 14);
    context.fillStyle = palette.muted;
    context.textAlign = "center";
    context.fillText(tl.sheet.request && tl.isLoading ? "Loading …" : tl.emptyText(), view.left + (width - view.left) / 2, RULER + 50, width - view.left - 20);
  }
  context.restore();
};
