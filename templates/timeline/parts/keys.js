// Keys over the detail.
import { firstAfter, nameOf } from "./decode.js";
import { listen } from "./dom.js";
import { max, min, round } from "./numbers.js";
import { spanOf } from "./range.js";
import { duration } from "./time.js";

export const KEYS = [
  ["w, + / s, −", "zoom in, zoom out"], ["a, ← / d, →", "move left, move right"], ["↑ / ↓", "lane above, below"], [", / .", "previous, next slice"],
  ["Enter", "pin the slice"], ["n / p", "next, previous match, or place of a finding"], ["f", "fit what is measured, pinned or placed"], ["m", "measure the slice"], ["0", "show all"], ["/", "search"],
  ["c", "critical path"], ["h / H", "hide the lane, show all"], ["Ctrl + c", "copy the name"], ["Esc", "close help, measure, pin, place"], ["?", "these keys"], ["Wheel", "zoom after a click; with Ctrl always"], ["Shift + wheel", "move"],
  ["Drag", "move"], ["Shift + drag", "measure; on touch screens hold, then drag"], ["Double click", "fit; on the name of a lane, hide it"],
];

export const useKeys = (tl) => {
  const center = () => min(tl.range.end, max(tl.range.start, spanOf(tl.focus)?.start ?? (tl.range.start + tl.range.end) / 2));
  const pan = (share) => {
    const moved = round((tl.range.end - tl.range.start) * share) || Math.sign(share);
    tl.go(tl.range.start + moved, tl.range.end + moved);
  };

  const moveLane = (by) => {
    const all = tl.view.plan.lanes.map((row) => row.lane);
    const at = all.indexOf(tl.focus?.lane);
    const lane = all[at < 0 && by < 0 ? all.length - 1 : min(all.length - 1, max(0, at + by))];
    if (!lane) return;
    tl.focus = { lane, slice: -1, section: lane.section };
    tl.scrollTo(lane);
    tl.announce(`${tl.groupLabel(lane.group)}, ${lane.label}, ${lane.count} slices`);
    tl.draw();
  };
  const moveSlice = (by) => {
    if (!tl.focus) moveLane(1);
    const { lane, slice } = tl.focus ?? {};
    if (!lane?.count) return;
    let next = slice + by;
    if (slice < 0) {
      const row = lane.rows[0];
      const at = firstAfter(row, tl.range.start + lane.section.shift);
      next = row.index[min(at, row.index.length - 1)] ?? 0;
    }
    next = min(lane.count - 1, max(0, next));
    tl.focus = { lane, slice: next, section: lane.section };
    tl.reveal(tl.focus);
    tl.announce(`${nameOf(lane, next).slice(0, 120)}, ${duration(lane.end[next] - lane.start[next])}`);
  };
  const mark = () => {
    tl.selection = spanOf(tl.pin ?? tl.focus) ?? { ...tl.range };
    tl.measure();
    tl.draw();
  };

  const ACTIONS = {
    w: () => tl.zoom(0.7, center()), "+": () => tl.zoom(0.7, center()), "=": () => tl.zoom(0.7, center()), s: () => tl.zoom(1 / 0.7, center()), "-": () => tl.zoom(1 / 0.7, center()),
    a: () => pan(-0.2), ArrowLeft: () => pan(-0.2), d: () => pan(0.2), ArrowRight: () => pan(0.2), ArrowUp: () => moveLane(-1), ArrowDown: () => moveLane(1),
    ",": () => moveSlice(-1), ".": () => moveSlice(1), n: () => tl.step(1), p: () => tl.step(-1), N: () => tl.step(-1), m: mark, h: () => tl.hideLane(tl.focus?.lane), H: () => tl.showLanes(), f: () => tl.fitSelection(), 0: () => tl.fitAll(), Home: () => tl.fitAll(),
    Enter: () => { if (tl.focus?.slice >= 0) tl.setPin(tl.focus); }, "/": () => tl.el.searchInput.focus(), c: () => tl.togglePath(), "?": () => tl.toggleHelp(),
    Escape: () => tl.escape(),
  };
  listen(tl.el.canvas, "keydown", (event) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey) {
      const hit = tl.pin ?? tl.focus;
      if (key === "c" && hit?.slice >= 0) tl.copy(nameOf(hit.lane, hit.slice));
      return;
    }
    const action = !event.altKey && (ACTIONS[key] ?? ACTIONS[key.toLowerCase()]);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    tl.hideTip();
    action();
    tl.settle(false);
  });
};
