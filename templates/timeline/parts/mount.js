// The time line: state, and what its parts call to change it.
import { useBar } from "./bar.js";
import { tooltip, useOverview } from "./brush.js";
import { paletteOf } from "./colors.js";
import { drawDetail } from "./detail.js";
import { button, listen } from "./dom.js";
import { frameOf } from "./frame.js";
import { boxOf, hitAt } from "./hit.js";
import { useKeys } from "./keys.js";
import { useAddress } from "./link.js";
import { useList } from "./list.js";
import { max, min, round } from "./numbers.js";
import { drawOverview, overviewOf } from "./overview.js";
import { usePin } from "./pin.js";
import { useFlags, usePlaces } from "./places.js";
import { usePointer } from "./pointer.js";
import { useRange } from "./range.js";
import { useRequests } from "./request.js";
import { useSearch } from "./search.js";
import { useSelection } from "./selection.js";
import { emptySheet, useSheets, windowSets } from "./sheets.js";
import { cut, visible } from "./text.js";

// The first time line of a page has the address.
let owner = null;

export const mount = (host, picture, options = {}) => {
  const el = frameOf(host);
  const sets = windowSets(picture);
  const sheets = new Map();
  const groups = new Map((picture.groups ?? []).map((group) => [group.id, group]));
  const tl = { host, picture, options, el, sets, sheets, groups, strip: overviewOf(picture), palette: paletteOf(host), closers: [], hover: null, focus: null, pin: null, place: null, selection: null, search: null, showPath: false, isLoading: false };

  tl.groupLabel = (id) => visible(groups.get(id)?.label ?? id ?? "");
  tl.input = (id) => {
    const side = groups.get(id)?.side;
    return (side && host.dataset[side]) || host.dataset.input || options.input || "";
  };
  tl.announce = (words) => {
    el.speaker.textContent = "";
    requestAnimationFrame(() => { el.speaker.textContent = words; });
  };
  tl.status = (words, retry) => {
    el.status.hidden = !words;
    el.status.replaceChildren(words, retry ? button("button", retry, "Try again") : "");
  };
  tl.emptyText = () => (tl.sheet.sections.length ? "No events in this part of the run." : (picture.windows ?? []).length || options.request ? "Choose a GPU in the overview." : "This picture has no events in detail.");
  tl.tallest = () => max(260, min(round(innerHeight * 0.72), 1400));

  // Drawing, at most once a frame.
  let frame = 0;
  const paint = () => {
    frame = 0;
    drawDetail(tl);
    drawOverview(tl);
    tl.drawFlags();
  };
  tl.draw = () => { if (!frame) frame = requestAnimationFrame(paint); };
  // Slower work than drawing follows when the range rests.
  let rest = 0;
  tl.settle = (chooseWindow) => {
    if (chooseWindow) tl.followRange();
    tl.writeAddress();
    clearTimeout(rest);
    rest = setTimeout(() => {
      tl.fillList();
      host.dispatchEvent(new CustomEvent("timelinechange", { detail: { ...tl.range } }));
    }, 200);
  };

  for (const use of [useRange, useSheets, usePlaces, useBar, tooltip, usePin, useSelection, useSearch, useList, useFlags, useRequests]) use(tl);
  tl.hasAddress = options.address !== false && !owner;
  if (tl.hasAddress) owner = tl;
  const applyAddress = useAddress(tl);
  tl.apply = (state) => {
    tl.status("");
    if (state.g && tl.sheet.request) {
      const known = state.g.split(",").filter((id) => groups.has(id)).slice(0, 16);
      if (known.length) tl.chooseGroups(known);
    }
    const place = state.f && tl.places.find((one) => one.id === state.f || anchorMatches(one.id, state.f));
    if (place) tl.show(place, false);
    else if (state.f) tl.status(`This time line has no place of ${cut(visible(state.f), 120)}`);
    // A place may be in several windows; the address knows which one was shown.
    if (state.w && (state.range || !place)) tl.openWindow(state.w);
    if (state.range) tl.go(state.range.start, state.range.end);
    if (state.slice && !tl.pinById(state.slice)) tl.wanted = tl.sheet.request ? state.slice : null;
    tl.draw();
  };
  const anchorMatches = (id, wanted) => id === `finding/${wanted}` || `finding/${id}` === wanted;
  if (options.request) {
    tl.setSheet(emptySheet(picture, true));
    tl.range = { start: tl.sheet.start, end: tl.sheet.end };
    const first = el.groupSelect.value || tl.strip.lanes[0]?.group;
    tl.sheet.chosen = new Set(first ? [first] : []);
    tl.sheet.groups = new Set(tl.requestGroups());
  } else if (sets.length) tl.openAt(0);
  else tl.setSheet(emptySheet(picture, false));
  tl.fitAll();
  useOverview(tl);
  usePointer(tl);
  useKeys(tl);
  if (tl.hasAddress) applyAddress(true);
  paint();
  tl.load(true);

  // Size, theme and resolution of the screen
  const restyle = () => {
    tl.palette = paletteOf(host);
    tl.drawLegend();
    tl.draw();
  };
  const sizes = new ResizeObserver(tl.draw);
  sizes.observe(el.live);
  const themes = new MutationObserver(restyle);
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class"] });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  listen(dark, "change", restyle);
  listen(window, "resize", tl.draw);
  listen(el.scroller, "scroll", tl.draw, { passive: true });
  listen(window, "scroll", tl.hideTip, { passive: true });

  return {
    show: (place) => tl.show(tl.places.find((one) => one.id === place) ?? (place.id ? place : { id: place, label: place, start_ns: 0, end_ns: tl.limits.end }), true),
    range: () => ({ start_ns: tl.range.start, end_ns: tl.range.end, groups: [...tl.sheet.groups] }),
    go: (start, end) => { tl.go(start, end); tl.settle(false); },
    zoom: (factor, time) => tl.zoom(factor, time ?? (tl.range.start + tl.range.end) / 2),
    // Lane and slice at a point of the detail, and the box of a slice: for tests.
    at: (x, y) => {
      const hit = hitAt(tl, x, y);
      if (!hit) return hit;
      const { lane, slice } = hit;
      return { lane: lane.id, slice, id: lane.ids[slice], start_ns: lane.start[slice], name: lane.section.names[lane.name[slice]] };
    },
    box: (laneId, slice, sectionAt = 0) => {
      const lane = tl.sheet.sections[sectionAt]?.tracks.find((one) => one.id === laneId);
      return lane ? boxOf(tl, lane, slice) : null;
    },
    overviewBox: (at) => {
      const { gutter, width, top, row } = tl.overviewLayout;
      return { x: gutter, y: top + at * row, width: width - gutter, height: row };
    },
    drawNow: paint,
    destroy() {
      for (const close of tl.closers) close();
      if (owner === tl) owner = null;
      sizes.disconnect();
      themes.disconnect();
      dark.removeEventListener("change", restyle);
      removeEventListener("resize", tl.draw);
      removeEventListener("scroll", tl.hideTip);
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      el.live.remove();
      host.classList.remove("tl-mounted");
    },
  };
};
