// Slices as boxes. Those narrower than 1.5 pixels are added up per pixel column: the color of most of the time, as high as
// the share that is covered. Boxes are collected by color and drawn together.
import { floor, max, min, round } from "./numbers.js";

const SOLID = 0;
const SOFT = 1;
const DIM = 2;

export const collector = () => {
  const colors = new Map();
  return {
    texts: [], signs: [], colors,
    add(entry, level, x, y, width, height) {
      let lists = colors.get(entry);
      if (!lists) colors.set(entry, (lists = [[], [], []]));
      lists[level].push(x, y, width, height);
    },
  };
};

export const paint = (context, found) => {
  for (const level of [DIM, SOFT, SOLID]) {
    for (const [entry, lists] of found.colors) {
      const list = lists[level];
      context.fillStyle = level === SOLID ? entry.fill : level === SOFT ? entry.soft : entry.dim;
      for (let at = 0; at < list.length; at += 4) context.fillRect(list[at], list[at + 1], list[at + 2], list[at + 3]);
    }
  }
};

// Boxes of one row between two times of its section.
export const collectRow = (found, row, lane, box, palette, matches) => {
  const { x: left, y, width, height, start, end, ratio } = box;
  const kinds = lane.section.kinds;
  const per = width / (end - start);
  const snap = (value) => round(value * ratio) / ratio;
  const pixel = 1 / ratio;
  const inner = height - 2;
  const isCounter = lane.kind === "counter";
  const { index } = row;
  const covered = new Float64Array(max(1, kinds.length) * 2);
  let column = -1;
  let touched = [];

  const flush = () => {
    if (column < 0) return;
    let best = touched[0];
    let all = 0;
    for (const key of touched) {
      all += covered[key];
      if (covered[key] > covered[best]) best = key;
    }
    const entry = palette.of(kinds[best >> 1]?.id ?? "other");
    const tall = snap(max(inner * (isCounter ? 0 : 0.3), inner * min(1, all)));
    found.add(entry, best & 1 ? DIM : SOLID, left + column * pixel, y + 1 + inner - tall, pixel, tall);
    for (const key of touched) covered[key] = 0;
    touched = [];
    column = -1;
  };

  for (let at = max(0, box.first); at < index.length; at += 1) {
    const slice = index[at];
    const from = lane.start[slice];
    if (from >= end && !(from === end && lane.end[slice] === from)) break;
    if (lane.end[slice] < start) continue;
    const x0 = (from - start) * per;
    const x1 = (lane.end[slice] - start) * per;
    const isOut = matches && !matches[lane.name[slice]];
    const key = lane.color[slice] * 2 + (isOut ? 1 : 0);
    const length = lane.end[slice] - from;
    if ((x1 - x0) * ratio < 1.5) {
      const place = min(round(width * ratio) - 1, max(0, floor(x0 * ratio)));
      if (place !== column) {
        flush();
        column = place;
      }
      if (!touched.includes(key)) touched.push(key);
      const busy = lane.busy && length > 0 ? lane.busy[slice] / length : 1;
      covered[key] += max(1e-9, (x1 - x0) * ratio * busy);
      continue;
    }
    flush();
    const a = snap(max(-2, x0));
    const b = max(a + pixel, snap(min(width + 2, x1)));
    const wide = b - a > 4 ? b - a - pixel : b - a;
    const entry = palette.of(kinds[lane.color[slice]]?.id ?? "other");
    if (isOut) found.add(entry, DIM, left + a, y + 1, wide, inner);
    else if (isCounter || lane.events?.[slice] > 1) {
      // A sum is soft; the solid part is as high as its share of busy time, or a value as its share of the highest.
      const tall = snap(inner * min(1, length > 0 ? (lane.busy?.[slice] ?? length) / length : 1));
      found.add(entry, SOFT, left + a, y + 1, wide, inner - tall);
      found.add(entry, SOLID, left + a, y + 1 + inner - tall, wide, tall);
    } else found.add(entry, SOLID, left + a, y + 1, wide, inner);
    if (b - a > 22 && height >= 12) found.texts.push({ lane, slice, x: left + max(a, 0), y, width: min(b, width) - max(a, 0), height, entry, isOut });
    if (entry.hatched || lane.mark?.[slice] || lane.kind === "gaps") found.signs.push({ x: left + max(0, a), y: y + 1, width: min(b, width) - max(0, a), height: inner, mark: lane.mark?.[slice] ?? 0, entry });
  }
  flush();
};
