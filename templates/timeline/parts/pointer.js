// The pointer and the wheel over the detail.
import { aboutOf, busyOf, eventsOf, firstFrom, kindOf, nameOf } from "./decode.js";
import { listen } from "./dom.js";
import { hitAt } from "./hit.js";
import { abs, max, min, round } from "./numbers.js";
import { cut, grouped, percent, visible } from "./text.js";
import { absolute, exactly } from "./time.js";

// Time between the last end before a slice and its start, on its lane; null for the first one.
export const gapBefore = (lane, slice) => {
  const row = lane.rows[lane.level?.[slice] ?? 0];
  const place = firstFrom(row, lane, lane.start[slice]);
  return place > 0 ? lane.start[slice] - row.reach[place - 1] : null;
};

export const describe = (tl, { lane, slice }) => {
  const length = lane.end[slice] - lane.start[slice];
  const gap = gapBefore(lane, slice);
  const events = eventsOf(lane, slice);
  const rows = [["Duration", exactly(length)], ["Start", exactly(lane.start[slice])]];
  const clock = absolute(tl.picture, lane.start[slice]);
  if (clock) rows.push(["Recorded clock", `${clock} ns`]);
  if (gap !== null) rows.push([gap < 0 ? "Overlaps the one before by" : "Gap before", exactly(abs(gap))]);
  if (events > 1) rows.push(["Sums up", `${grouped(events)} events, ${percent(length > 0 ? busyOf(lane, slice) / length : 1)} of the time covered`]);
  rows.push(["Kind", visible(kindOf(lane, slice).label)]);
  const mark = lane.mark?.[slice];
  if (mark) rows.push(["Compared", mark === 1 ? "gone in the new run" : "new, not in the base"]);
  const about = aboutOf(lane, slice);
  if (about) rows.push([lane.kind === "gaps" ? "Cause" : lane.kind === "kernels" ? "Range" : "About", cut(about, 300)]);
  rows.push(["Lane", `${tl.groupLabel(lane.group)}, ${lane.label}`]);
  return [["b", cut(nameOf(lane, slice), 400)], ["dl", rows]];
};

export const usePointer = (tl) => {
  const { canvas } = tl.el;
  const pointers = new Map();
  let drag = null;
  let pinch = null;
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const timeAt = (x) => round(tl.view.time(max(tl.view.left, x)));

  listen(canvas, "pointerdown", (event) => {
    if (event.button !== 0 || !tl.view) return;
    const [x, y] = point(event);
    pointers.set(event.pointerId, x);
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    tl.hideTip();
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      pinch = { distance: max(8, abs(a - b)), range: { ...tl.range }, time: tl.view.time((a + b) / 2) };
      drag = null;
      return;
    }
    drag = { x, y, range: { ...tl.range }, scroll: tl.el.scroller.scrollTop, from: timeAt(x), isSelection: event.shiftKey, moved: false };
  });

  listen(canvas, "pointermove", (event) => {
    const [x, y] = point(event);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, x);
    if (pinch && pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      const factor = pinch.distance / max(8, abs(a - b));
      const length = max(1, round((pinch.range.end - pinch.range.start) * factor));
      const share = ((a + b) / 2 - tl.view.left) / (tl.view.width - tl.view.left);
      const start = round(pinch.time - share * length);
      return tl.go(start, start + length);
    }
    if (!drag) return hover(event, x, y);
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.moved = true;
    if (drag.isSelection) {
      const at = timeAt(x);
      tl.selection = { start: min(drag.from, at), end: max(drag.from, at) };
      tl.draw();
      return;
    }
    canvas.style.cursor = "grabbing";
    const moved = round((drag.x - x) / tl.view.per);
    tl.go(drag.range.start + moved, drag.range.end + moved);
    if (event.pointerType !== "touch") tl.el.scroller.scrollTop = drag.scroll + drag.y - y;
  });

  const hover = (event, x, y) => {
    const hit = hitAt(tl, x, y);
    const isSame = hit?.lane === tl.hover?.lane && hit?.slice === tl.hover?.slice;
    tl.hover = hit;
    canvas.style.cursor = hit?.slice >= 0 ? "pointer" : "grab";
    if (!isSame) tl.draw();
    if (hit?.slice >= 0 && event.pointerType !== "touch") tl.tip(event.clientX, event.clientY, describe(tl, hit));
    else tl.hideTip();
  };

  const end = (event) => {
    pointers.delete(event.pointerId);
    if (pinch) {
      if (pointers.size === 0) pinch = null;
      return tl.settle(false);
    }
    if (!drag) return;
    const [x, y] = point(event);
    canvas.style.cursor = "grab";
    if (!drag.moved) {
      const hit = hitAt(tl, x, y);
      tl.setPin(hit?.slice >= 0 ? hit : null);
      if (hit?.lane) tl.focus = { lane: hit.lane, slice: hit.slice };
    } else if (drag.isSelection) tl.measure();
    drag = null;
    tl.settle(false);
  };
  listen(canvas, "pointerup", end);
  listen(canvas, "pointercancel", (event) => {
    pointers.delete(event.pointerId);
    drag = null;
    pinch = null;
  });
  listen(canvas, "pointerleave", () => {
    tl.hover = null;
    tl.hideTip();
    tl.draw();
  });
  listen(canvas, "dblclick", () => tl.fitSelection());

  // The page scrolls under the pointer until the time line has the focus; with ctrl, or pinching, it always zooms.
  listen(canvas, "wheel", (event) => {
    if (!tl.view) return;
    const isOurs = document.activeElement === canvas;
    const [x] = point(event);
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey || (isOurs && !event.shiftKey && !event.altKey && abs(event.deltaY) >= abs(event.deltaX))) {
      event.preventDefault();
      tl.zoom(Math.exp(max(-300, min(300, event.deltaY * unit)) * (event.ctrlKey ? 0.008 : 0.002)), tl.view.time(max(tl.view.left, x)));
    } else if (event.shiftKey || (isOurs && !event.altKey)) {
      event.preventDefault();
      const moved = round(((event.shiftKey ? event.deltaY + event.deltaX : event.deltaX) * unit) / tl.view.per);
      tl.go(tl.range.start + moved, tl.range.end + moved);
    } else {
      if (!event.altKey) tl.hint();
      return;
    }
    tl.hideTip();
    tl.settle(false);
  }, { passive: false });
};

