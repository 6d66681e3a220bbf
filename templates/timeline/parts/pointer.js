// The pointer and the wheel over the detail.
import { aboutOf, busyOf, eventsOf, firstFrom, kindOf, nameOf } from "./decode.js";
import { isTouch, listen, pointOf } from "./dom.js";
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
  // Both sides of a comparison have clocks of their own.
  const clock = !tl.groups.get(lane.group)?.side && absolute(tl.picture, lane.start[slice]);
  if (clock) rows.push(["Recorded clock", `${clock} ns`]);
  if (gap !== null) rows.push([gap < 0 ? "Overlap before" : "Gap before", exactly(abs(gap))]);
  if (events > 1) rows.push(["Sums up", `${grouped(events)} events, ${percent(length > 0 ? busyOf(lane, slice) / length : 1)} of the time covered`]);
  rows.push(["Kind", visible(kindOf(lane, slice).label)]);
  const mark = lane.mark?.[slice];
  if (mark) rows.push(["Compared", mark === 1 ? "gone in the new run" : "new, not in the base"]);
  const about = aboutOf(lane, slice);
  if (about) rows.push([lane.kind === "gaps" ? "Where" : lane.kind === "kernels" ? "Range" : "About", cut(about, 300)]);
  rows.push(["Lane", `${tl.groupLabel(lane.group)}, ${lane.label}`]);
  return [["b", cut(nameOf(lane, slice), 400)], ["dl", rows]];
};

export const usePointer = (tl) => {
  const { canvas } = tl.el;
  const pointers = new Map();
  let drag = null;
  let pinch = null;
  let held = 0;
  const timeAt = (x) => round(tl.view.time(max(tl.view.left, x)));
  const fingers = () => {
    const [a, b] = [...pointers.values()].map(([x]) => x);
    return { middle: (a + b) / 2, distance: max(8, abs(a - b)) };
  };
  const dragFrom = ([x, y], isSelection, moved) => {
    drag = { x, y, range: { ...tl.range }, scroll: tl.el.scroller.scrollTop, from: timeAt(x), isSelection, moved };
  };

  listen(canvas, "pointerdown", (event) => {
    if (event.button !== 0 || !tl.view) return;
    const at = pointOf(event);
    pointers.set(event.pointerId, at);
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    tl.hideTip();
    clearTimeout(held);
    if (pointers.size === 2) {
      const { middle, distance } = fingers();
      pinch = { distance, range: { ...tl.range }, time: tl.view.time(middle) };
      drag = null;
      return;
    }
    dragFrom(at, event.shiftKey, false);
    // A finger that rests measures.
    if (isTouch(event)) held = setTimeout(() => { if (drag && !drag.moved) select(at[0]); }, 500);
  });

  const select = (x) => {
    const at = timeAt(x);
    drag.isSelection = drag.moved = true;
    tl.selection = { start: min(drag.from, at), end: max(drag.from, at) };
    tl.draw();
  };

  listen(canvas, "pointermove", (event) => {
    const [x, y] = pointOf(event);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, [x, y]);
    if (pinch && pointers.size === 2) {
      const { middle, distance } = fingers();
      const length = max(1, round((pinch.range.end - pinch.range.start) * (pinch.distance / distance)));
      const start = round(pinch.time - ((middle - tl.view.left) / (tl.view.width - tl.view.left)) * length);
      return tl.go(start, start + length);
    }
    if (!drag) return hover(event, x, y);
    const [dx, dy] = [abs(x - drag.x), abs(y - drag.y)];
    if (dx + dy > 9) clearTimeout(held);
    // The browser scrolls under a finger that goes up or down.
    if (!drag.moved && (isTouch(event) ? dx < 10 || dx < dy : dx + dy < 4)) return;
    drag.moved = true;
    if (drag.isSelection) return select(x);
    canvas.style.cursor = "grabbing";
    const moved = round((drag.x - x) / tl.view.per);
    tl.go(drag.range.start + moved, drag.range.end + moved);
    if (!isTouch(event)) tl.el.scroller.scrollTop = drag.scroll + drag.y - y;
  });

  const tip = (event, hit) => tl.tip(event.clientX, event.clientY, describe(tl, hit));
  const hover = (event, x, y) => {
    if (isTouch(event)) return;
    const hit = hitAt(tl, x, y);
    const isSame = hit?.lane === tl.hover?.lane && hit?.slice === tl.hover?.slice;
    tl.hover = hit;
    const isLabel = hit && x < tl.view.left;
    canvas.style.cursor = hit?.slice >= 0 || isLabel ? "pointer" : "grab";
    if (!isSame) tl.draw();
    if (hit?.slice >= 0) tip(event, hit);
    else if (isLabel) tl.tip(event.clientX, event.clientY, [["b", hit.lane.label], ["p", `${tl.groupLabel(hit.lane.group)}. Double click: hide`]]);
    else tl.hideTip();
  };

  const end = (event) => {
    pointers.delete(event.pointerId);
    clearTimeout(held);
    if (pinch) {
      // The finger that stays moves on.
      pinch = null;
      for (const at of pointers.values()) dragFrom(at, false, true);
      return tl.settle(false);
    }
    if (!drag) return;
    const { moved, isSelection } = drag;
    drag = null;
    canvas.style.cursor = "grab";
    if (!moved) {
      const hit = hitAt(tl, ...pointOf(event));
      tl.setPin(hit?.slice >= 0 ? hit : null);
      if (hit) tl.focus = hit;
      // The panel may be below the screen.
      if (tl.pin && isTouch(event)) tip(event, hit);
    } else if (isSelection) tl.measure();
    tl.settle(false);
  };
  listen(canvas, "pointerup", end);
  listen(canvas, "pointercancel", (event) => {
    pointers.delete(event.pointerId);
    clearTimeout(held);
    drag = pinch = null;
  });
  listen(canvas, "pointerleave", (event) => {
    if (isTouch(event)) return;
    tl.hover = null;
    tl.hideTip();
    tl.draw();
  });
  listen(canvas, "dblclick", (event) => {
    const [x, y] = pointOf(event);
    if (x < tl.view.left) tl.hideLane(hitAt(tl, x, y)?.lane);
    else tl.fitSelection();
  });

  // The page scrolls under the pointer until the time line has the focus; with ctrl, or pinching, it always zooms.
  listen(canvas, "wheel", (event) => {
    if (!tl.view) return;
    const isOurs = document.activeElement === canvas;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey || (isOurs && !event.shiftKey && !event.altKey && abs(event.deltaY) >= abs(event.deltaX))) {
      event.preventDefault();
      tl.zoom(Math.exp(max(-300, min(300, event.deltaY * unit)) * (event.ctrlKey ? 0.008 : 0.002)), timeAt(pointOf(event)[0]));
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
