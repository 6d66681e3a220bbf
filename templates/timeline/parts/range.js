// The shown range: moving, zooming, and the labels of its scale.
import { RULER } from "./layout.js";
import { abs, ceil, floor, max, min, round } from "./numbers.js";
import { duration, stepOf } from "./time.js";

// The time of a slice as it is shown.
export const spanOf = (hit) => (hit?.slice >= 0 ? { start: hit.lane.start[hit.slice] - hit.lane.section.shift, end: hit.lane.end[hit.slice] - hit.lane.section.shift } : null);

export const useRange = (tl) => {
  tl.go = (start, end) => {
    const { limits } = tl;
    const length = max(1, min(limits.end - limits.start, round(end) - round(start)));
    const from = max(limits.start, min(limits.end - length, round(start)));
    tl.range = { start: from, end: from + length };
    tl.el.read.textContent = `Shown: ${duration(length)} from ${from === tl.zero() ? "the start" : duration(from - tl.zero())}`;
    tl.load(false);
    tl.draw();
  };
  tl.zoom = (factor, time) => {
    const { start, end } = tl.range;
    const length = end - start;
    let next = round(length * factor);
    if (next === length) next += factor < 1 ? -1 : 1;
    next = max(1, next);
    const from = time - ((time - start) / length) * next;
    tl.go(round(from), round(from) + next);
  };
  tl.zero = () => (tl.sheet.request || !tl.sheet.sections.length ? 0 : tl.sheet.start);
  // Labels of a scale count from the window; far into a run, from a round time before the range.
  tl.scaleBase = (start, end) => {
    const zero = tl.zero();
    if (max(abs(start - zero), abs(end - zero)) < (end - start) * 2000) return zero;
    const coarse = stepOf((end - start) * 200, 1);
    return zero + floor((start - zero) / coarse) * coarse;
  };
  tl.scaleText = (base) => {
    const zero = tl.zero();
    if (base === zero) return zero || tl.sheet.sections.length > 1 ? "from its start" : "from the start";
    return `from ${String(base - zero).replace(/\B(?=(\d{3})+$)/g, " ")} ns`;
  };
  tl.fitAll = () => {
    const { start, end } = tl.sheet.request ? tl.strip.extent : tl.sheet;
    tl.go(start, end);
  };
  tl.fitSelection = () => {
    const span = tl.selection ?? spanOf(tl.pin) ?? tl.place;
    if (!span) return tl.fitAll();
    const margin = max(1, round((span.end - span.start) * 0.15));
    tl.go(span.start - margin, span.end + margin);
    tl.settle(false);
  };
  tl.scrollTo = (lane) => {
    if (tl.sheet.unseen.delete(lane.id)) tl.countUnseen();
    const row = tl.view?.plan.lanes.find((one) => one.lane === lane);
    if (!row) return;
    const { scroller } = tl.el;
    if (row.y < scroller.scrollTop) scroller.scrollTop = row.y - 30;
    else if (row.y + row.height + RULER > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = row.y + row.height + RULER - scroller.clientHeight + 10;
  };
  // Moves the range to a slice that is not visible, and zooms out if it is longer.
  tl.reveal = (hit) => {
    const { start: a, end: b } = spanOf(hit);
    const length = max(tl.range.end - tl.range.start, ceil((b - a) * 1.2));
    if (b <= tl.range.start || a >= tl.range.end) tl.go(round((a + b - length) / 2), round((a + b + length) / 2));
    tl.scrollTo(hit.lane);
    tl.draw();
  };
};
