// Slices at points.
import { firstAfter } from "./decode.js";
import { RULER } from "./layout.js";
import { floor, max } from "./numbers.js";

const REACH = 3;

// The slice of a row that is nearest to a time, within a few pixels; the shortest of those that contain it.
const nearest = (row, lane, time, slack) => {
  let best = -1;
  let distance = Infinity;
  let length = Infinity;
  for (let at = max(0, firstAfter(row, time - slack) - 1); at < row.index.length; at += 1) {
    const slice = row.index[at];
    if (lane.start[slice] > time + slack) break;
    const off = max(0, lane.start[slice] - time, time - lane.end[slice]);
    const size = lane.end[slice] - lane.start[slice];
    if (off <= slack && (off < distance || (off === distance && size < length))) [best, distance, length] = [slice, off, size];
  }
  return best;
};

// Lane and slice at a point of the canvas in pixels of the page; slice is -1 on an empty part of a lane.
export const hitAt = (tl, x, y) => {
  const { view } = tl;
  if (!view || y < RULER) return null;
  const row = view.plan.lanes.find((one) => y >= one.y + RULER - view.scroll && y < one.y + one.height + RULER - view.scroll);
  if (!row) return null;
  const level = floor((y - (row.top + RULER - view.scroll)) / row.rowHeight);
  const hit = { lane: row.lane, section: row.section, slice: -1 };
  if (x >= view.left && row.lane.rows[level]) hit.slice = nearest(row.lane.rows[level], row.lane, view.time(x) + row.section.shift, REACH / view.per);
  return hit;
};

// The box of a slice on the canvas, for tests and for what points at it.
export const boxOf = (tl, lane, slice) => {
  const row = tl.view?.plan.lanes.find((one) => one.lane === lane);
  if (!row) return null;
  const x = tl.view.x(lane.start[slice], row.section);
  return { x, y: row.top + RULER - tl.view.scroll + (lane.level?.[slice] ?? 0) * row.rowHeight, width: (lane.end[slice] - lane.start[slice]) * tl.view.per, height: row.rowHeight };
};
