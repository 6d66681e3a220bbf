// Lines over the slices: launches, the critical path, pairs of a comparison.
import { abs, max, min } from "./numbers.js";

const middle = (row, level = 0) => row.top + (level + 0.5) * row.rowHeight;

const placeOf = (view, section, laneIndex, slice, end) => {
  const row = view.laneRow(section, laneIndex);
  const lane = section.tracks[laneIndex];
  if (!row || slice >= lane.count) return null;
  return { x: view.x(end ? lane.end[slice] : lane.start[slice], section), y: middle(row, lane.level?.[slice] ?? 0) };
};

export const drawFlows = (context, view, palette, section, lane, slice, partners) => {
  const own = section.tracks.indexOf(lane);
  context.lineWidth = 1.5;
  for (const [other, place] of partners.slice(0, 400)) {
    const here = placeOf(view, section, own, slice);
    const there = placeOf(view, section, other, place);
    if (!here || !there) continue;
    const bend = max(12, abs(there.y - here.y) / 2) * Math.sign(there.y - here.y || 1);
    context.strokeStyle = palette.ink;
    context.beginPath();
    context.moveTo(here.x, here.y);
    context.bezierCurveTo(here.x, here.y + bend, there.x, there.y - bend, there.x, there.y);
    context.stroke();
    context.fillStyle = palette.ink;
    context.beginPath();
    context.arc(there.x, there.y, 3, 0, 7);
    context.arc(here.x, here.y, 3, 0, 7);
    context.fill();
  }
};

export const drawPath = (context, view, palette, section) => {
  const points = [];
  let row = null;
  const base = view.top(section);
  let last = -Infinity;
  for (const part of section.path) {
    const [a, b] = [view.x(part.start, section), view.x(part.end, section)];
    if (b < view.left - 50) continue;
    if (a > view.right + 50) break;
    const found = part.lane >= 0 ? view.laneRow(section, part.lane) : null;
    // Along the lower edge, so that names stay readable.
    const y = found ? found.top + found.rowHeight - 2 : base;
    // Parts below half a pixel are invisible.
    if (b - last < 0.5 && found === row) continue;
    points.push([a, y], [b, y]);
    row = found;
    last = b;
  }
  if (points.length === 0) return;
  for (const [color, width] of [[palette.ground, 6], [palette.path || palette.critical, 3]]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.beginPath();
    points.forEach(([x, y], at) => (at ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }
};

export const drawPairs = (context, view, palette, sheet, hovered) => {
  const [base, other] = sheet.sections;
  context.strokeStyle = palette.muted;
  let drawn = 0;
  let lastX = -Infinity;
  for (const [a, b, c, d] of sheet.pairs) {
    const isHovered = hovered && ((hovered.section === base && hovered.lane === base.tracks[a] && hovered.slice === b) || (hovered.section === other && hovered.lane === other.tracks[c] && hovered.slice === d));
    const from = placeOf(view, base, a, b);
    const to = placeOf(view, other, c, d);
    if (!from || !to || max(from.x, to.x) < view.left || min(from.x, to.x) > view.right) continue;
    if (!isHovered && (abs(from.x - lastX) < 5 || drawn > 600)) continue;
    if (!isHovered) lastX = from.x;
    drawn += 1;
    context.globalAlpha = isHovered ? 1 : 0.3;
    context.lineWidth = isHovered ? 2 : 1;
    const [rowA, rowB] = [view.laneRow(base, a), view.laneRow(other, c)];
    context.beginPath();
    context.moveTo(from.x, rowA.top + rowA.rowHeight);
    context.lineTo(to.x, rowB.top);
    context.stroke();
  }
  context.globalAlpha = 1;
};
