// The pointer over the overview: choosing a range, moving it, opening a lane or a place.
import { isTouch, listen, make, pointOf } from "./dom.js";
import { abs, floor, max, min, round } from "./numbers.js";
import { visible, percent } from "./text.js";
import { duration } from "./time.js";

export const useOverview = (tl) => {
  const canvas = tl.el.overview;
  let drag = null;
  const timeAt = (x) => tl.overviewLayout.time(x);
  const xOf = (time) => tl.overviewLayout.x(time);
  const placeAt = (x, y, reach) => {
    if (y > 7 + reach) return null;
    let best = null;
    for (const place of tl.picture.places ?? []) {
      const off = abs(xOf((place.start_ns + place.end_ns) / 2) - x);
      if (off < reach && (!best || off < best.off)) best = { off, place };
    }
    return best?.place ?? null;
  };
  const laneAt = (y) => tl.strip.lanes[floor((y - tl.overviewLayout.top) / tl.overviewLayout.row)] ?? null;

  const describe = (x, y) => {
    const place = placeAt(x, y, 7);
    if (place) return [["b", visible(place.label)], ["p", "Click: show this place"]];
    const lane = laneAt(y);
    if (!lane || x < tl.overviewLayout.gutter || y >= tl.overviewLayout.bottom) return null;
    const bin = min(tl.strip.bins - 1, floor(tl.strip.binAt(timeAt(x))));
    const rows = lane.shares.filter(([, shares]) => shares[bin] > 0).map(([kind, shares]) => [visible(tl.picture.kinds[kind]?.label ?? "?"), percent(shares[bin] / 255)]);
    const mark = (tl.strip.marks ?? []).find((one) => one.start_ns <= timeAt(x) && timeAt(x) < max(one.end_ns, one.start_ns + tl.picture.span_ns / tl.strip.bins));
    return [["b", lane.count > 1 ? `${lane.label}, averaged` : lane.label], ["p", `at ${duration(timeAt(x))}${mark ? `, ${visible(mark.label)}` : ""}`], ["dl", rows]];
  };

  listen(canvas, "pointerdown", (event) => {
    if (event.button !== 0 || !tl.overviewLayout) return;
    const [x, y] = pointOf(event);
    const reach = isTouch(event) ? 14 : 5;
    const place = placeAt(x, y, reach + 2);
    if (place) return tl.show(place, true);
    if (x < tl.overviewLayout.gutter) return tl.openGroup(laneAt(y)?.group, event.shiftKey);
    const shift = tl.sheet.sections[0]?.shift ?? 0;
    const edges = [tl.range.start, tl.range.end].map((at) => xOf(at + shift));
    const isInside = x > edges[0] + reach && x < edges[1] - reach && edges[1] - edges[0] < (tl.overviewLayout.width - tl.overviewLayout.gutter) * 0.9;
    const edge = edges.findIndex((at) => abs(at - x) <= reach);
    drag = { x, lane: laneAt(y), from: timeAt(x), range: { ...tl.range }, mode: edge >= 0 && edges[1] - edges[0] > 2 * reach + 2 ? ["left", "right"][edge] : isInside ? "move" : "new", moved: false };
    canvas.setPointerCapture(event.pointerId);
    tl.hideTip();
  });
  listen(canvas, "pointermove", (event) => {
    const [x, y] = pointOf(event);
    if (!drag) {
      const place = tl.overviewLayout && placeAt(x, y, 7);
      canvas.style.cursor = place || x < (tl.overviewLayout?.gutter ?? 0) ? "pointer" : "crosshair";
      const words = tl.overviewLayout && describe(x, y);
      return words ? tl.tip(event.clientX, event.clientY, words) : tl.hideTip();
    }
    if (abs(x - drag.x) > 3) drag.moved = true;
    if (!drag.moved) return;
    const at = timeAt(x);
    const { range, from } = drag;
    if (drag.mode === "move") tl.go(range.start + at - from, range.end + at - from);
    else if (drag.mode === "left") tl.go(min(at, range.end - 1), range.end);
    else if (drag.mode === "right") tl.go(range.start, max(at, range.start + 1));
    else tl.go(min(from, at), max(from, at, min(from, at) + 1));
  });
  const end = () => {
    if (!drag) return;
    if (!drag.moved) {
      // A click centers the detail, or opens the window that is there.
      const window = (tl.picture.windows ?? []).find((one) => xOf(one.start_ns) - 4 <= drag.x && drag.x <= xOf(one.end_ns) + 4);
      if (window && !tl.sheet.sections.some((section) => section.id === window.id)) tl.openWindow(window.id);
      else if (drag.mode === "new") {
        const half = (tl.range.end - tl.range.start) / 2;
        tl.go(round(drag.from - half), round(drag.from + half));
      }
      if (tl.options.request && drag.lane && !tl.sheet.groups.has(drag.lane.group)) tl.openGroup(drag.lane.group, false);
    }
    tl.settle(drag.moved);
    drag = null;
  };
  listen(canvas, "pointerup", end);
  listen(canvas, "pointercancel", () => { drag = null; });
  listen(canvas, "pointerleave", () => tl.hideTip());
};

export const tooltip = (tl) => {
  const tip = make("div.tip", { role: "tooltip", hidden: true });
  tl.el.live.append(tip);
  tl.tip = (x, y, lines) => {
    tip.replaceChildren(...lines.map(([tag, words]) => (tag === "dl" ? make("dl", ...words.map(([name, value]) => make("div", make("dt", name), make("dd", value)))) : make(tag, words))));
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    tip.style.left = `${max(8, min(x + 14, innerWidth - size.width - 8))}px`;
    tip.style.top = `${y + 18 + size.height > innerHeight - 8 ? max(8, y - size.height - 12) : y + 18}px`;
  };
  tl.hideTip = () => { tip.hidden = true; };
};
