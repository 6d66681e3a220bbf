// The time line: state, and what its parts call to change it.
import { tooltip, useOverview } from "./brush.js";
import { paletteOf } from "./colors.js";
import { drawDetail } from "./detail.js";
import { button, listen, make } from "./dom.js";
import { useFlags } from "./flags.js";
import { frameOf, tool } from "./frame.js";
import { boxOf, hitAt } from "./hit.js";
import { useKeys } from "./keys.js";
import { RULER } from "./layout.js";
import { useAddress } from "./link.js";
import { useList } from "./list.js";
import { abs, ceil, floor, max, min, round } from "./numbers.js";
import { drawOverview, overviewOf } from "./overview.js";
import { usePin } from "./pin.js";
import { usePointer } from "./pointer.js";
import { sectionOfAnswer, useRequests } from "./request.js";
import { useSearch } from "./search.js";
import { useSelection } from "./selection.js";
import { emptySheet, sheetOf, windowSets } from "./sheets.js";
import { cut, plural, visible } from "./text.js";
import { duration, stepOf } from "./time.js";

// The first time line of a page has the address.
let owner = null;

export const mount = (host, picture, options = {}) => {
  const el = frameOf(host);
  const sets = windowSets(picture);
  const sheets = new Map();
  const groups = new Map((picture.groups ?? []).map((group) => [group.id, group]));
  const tl = { host, picture, options, el, strip: overviewOf(picture), palette: paletteOf(host), closers: [], hover: null, focus: null, pin: null, place: null, selection: null, search: null, showPath: false, isLoading: false };

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
    el.status.replaceChildren(words, retry ? button("tl-button", retry, "Try again") : "");
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
  // What is slower than drawing follows when the range rests.
  let rest = 0;
  tl.settle = (chooseWindow) => {
    if (chooseWindow) followRange();
    tl.writeAddress();
    clearTimeout(rest);
    rest = setTimeout(() => {
      tl.fillList();
      host.dispatchEvent(new CustomEvent("timelinechange", { detail: { ...tl.range } }));
    }, 200);
  };

  // Ranges
  tl.go = (start, end) => {
    const { limits } = tl;
    const length = max(1, min(limits.end - limits.start, round(end) - round(start)));
    const from = max(limits.start, min(limits.end - length, round(start)));
    tl.range = { start: from, end: from + length };
    el.read.textContent = `Shown: ${duration(length)} from ${duration(from - scaleZero())}`;
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
  const scaleZero = () => (tl.sheet.request || !tl.sheet.sections.length ? 0 : tl.sheet.start);
  // Labels of a scale count from the window; far into a run, from a round time before the range.
  tl.scaleBase = (start, end) => {
    const zero = scaleZero();
    if (max(abs(start - zero), abs(end - zero)) < (end - start) * 2000) return zero;
    const coarse = stepOf((end - start) * 200, 1);
    return zero + floor((start - zero) / coarse) * coarse;
  };
  tl.scaleText = (base) => {
    const zero = scaleZero();
    if (base === zero) return zero || tl.sheet.sections.length > 1 ? "from its start" : "from the start";
    return `from ${String(base - zero).replace(/\B(?=(\d{3})+$)/g, " ")} ns`;
  };
  tl.fitAll = () => tl.go(tl.sheet.start, tl.sheet.end);
  tl.fitSelection = () => {
    const { pin, selection, place } = tl;
    const span = selection ?? (pin && { start: pin.lane.start[pin.slice] - pin.lane.section.shift, end: pin.lane.end[pin.slice] - pin.lane.section.shift }) ?? place;
    if (!span) return tl.fitAll();
    const margin = max(1, round((span.end - span.start) * 0.15));
    tl.go(span.start - margin, span.end + margin);
    tl.settle(false);
  };
  tl.scrollTo = (lane) => {
    const row = tl.view?.plan.lanes.find((one) => one.lane === lane);
    if (!row) return;
    const { scroller } = el;
    if (row.y < scroller.scrollTop) scroller.scrollTop = row.y - 30;
    else if (row.y + row.height + RULER > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = row.y + row.height + RULER - scroller.clientHeight + 10;
  };
  // Moves the range to a slice, and zooms out if it is longer.
  tl.reveal = ({ lane, slice }) => {
    const [a, b] = [lane.start[slice] - lane.section.shift, lane.end[slice] - lane.section.shift];
    const length = max(tl.range.end - tl.range.start, ceil((b - a) * 1.2));
    if (a < tl.range.start || b > tl.range.end) tl.go(round((a + b - length) / 2), round((a + b + length) / 2));
    tl.scrollTo(lane);
    tl.draw();
  };

  // Sheets
  const setSheet = (sheet) => {
    tl.sheet = sheet;
    Object.assign(tl, { hover: null, focus: null, selection: null });
    el.selectionPanel.hidden = true;
    const span = max(1, picture.span_ns ?? 1);
    const isPair = sheet.sections.length > 1;
    tl.limits = isPair ? { start: min(sheet.start, sheet.earliest), end: sheet.end } : { start: min(0, sheet.start, sheet.earliest), end: max(span, sheet.end) };
    tl.setPin(null);
    if (tl.search) tl.searchAgain();
    el.reason.replaceChildren(...sheet.reasons.map((words, at) => make("span", {}, `${visible(sheet.sections[at]?.label ?? "")}: ${visible(words)}`)));
    el.reason.hidden = !sheet.reasons.length;
    for (const tab of el.tabs.children) if (tab.dataset.at) tab.setAttribute("aria-pressed", String(!sheet.request && sets[tab.dataset.at][0].id === sheet.sections[0]?.id));
    const hasPath = sheet.sections.some((section) => section.path.length);
    pathTool.hidden = !hasPath;
    el.canvas.setAttribute("aria-label", `${sheet.label || "Detail"}: ${plural(sheet.sections.reduce((sum, section) => sum + section.tracks.length, 0), "lane")}`);
    drawLegend();
  };
  const openAt = (at) => {
    if (!sheets.has(at)) sheets.set(at, sheetOf(picture, sets[at]));
    setSheet(sheets.get(at));
  };
  tl.openWindow = (id, range) => {
    const at = sets.findIndex((set) => set.some((window) => window.id === id));
    if (at < 0) return false;
    openAt(at);
    if (range) tl.go(range.start, range.end);
    else tl.fitAll();
    tl.announce(tl.sheet.label);
    return true;
  };
  // A range that was moved onto another window shows that one.
  const followRange = () => {
    if (tl.sheet.request || tl.sheet.sections.length > 1) return;
    const { start, end } = tl.range;
    const overlap = (window) => min(end, window.end_ns) - max(start, window.start_ns);
    let best = -1;
    sets.forEach((set, at) => { if (set.length === 1 && overlap(set[0]) > 0 && (best < 0 || overlap(set[0]) > overlap(sets[best][0]))) best = at; });
    const own = sets.findIndex((set) => set[0].id === tl.sheet.sections[0]?.id);
    if (best < 0 || best === own || (own >= 0 && overlap(sets[own][0]) >= overlap(sets[best][0]))) return;
    openAt(best);
    tl.go(start, end);
  };

  // Groups of a server
  tl.requestGroups = () => {
    const ids = new Set(tl.sheet.chosen);
    for (const id of tl.sheet.chosen) {
      const group = groups.get(id);
      for (const other of groups.values()) if (group && other.gpu === null && other.rank === group.rank && other.side === group.side) ids.add(other.id);
    }
    return [...ids];
  };
  tl.openGroup = (id, more) => {
    if (!id || !options.request) {
      // In a page, the window about that GPU.
      const set = sets.find((one) => one.some((window) => window.group === id));
      if (set) tl.openWindow(set[0].id);
      return tl.settle(false);
    }
    const { chosen } = tl.sheet;
    if (more && chosen.has(id) && chosen.size > 1) chosen.delete(id);
    else {
      if (!more) chosen.clear();
      chosen.add(id);
    }
    chooseGroups([...chosen]);
  };
  const chooseGroups = (ids) => {
    tl.sheet.chosen = new Set(ids);
    tl.sheet.groups = new Set(tl.requestGroups());
    groupSelect.value = ids[0] ?? "";
    tl.load(true);
    tl.draw();
    tl.settle(false);
  };
  const again = (hit, section) => {
    const lane = hit && section.tracks.find((one) => one.id === hit.lane.id);
    if (!lane) return null;
    if (hit.slice < 0) return { ...hit, lane, section };
    const [id, start] = [hit.lane.ids[hit.slice], hit.lane.start[hit.slice]];
    for (let slice = 0; slice < lane.count; slice += 1) if (id >= 0 ? lane.ids[slice] === id && lane.start[slice] === start : lane.start[slice] === start && lane.ids[slice] < 0) return { lane, slice, section };
    return null;
  };
  tl.take = (answer) => {
    const section = sectionOfAnswer(answer, "what is loaded");
    const { sheet } = tl;
    sheet.sections = [section];
    Object.assign(tl, { hover: null, focus: again(tl.focus, section) });
    if (tl.pin) {
      const pin = again(tl.pin, section);
      if (pin) tl.pin = pin;
    }
    if (tl.wanted) {
      const wanted = tl.wanted;
      tl.wanted = null;
      pinById(wanted);
    }
    if (tl.search) {
      const at = tl.search.current;
      tl.searchAgain();
      if (tl.search && at >= 0) tl.search.current = tl.focus ? tl.search.matches.findIndex((match) => match.lane === tl.focus.lane && match.slice === tl.focus.slice) : -1;
    }
    pathTool.hidden = !section.path.length;
    el.canvas.setAttribute("aria-label", `Detail: ${plural(section.tracks.length, "lane")}`);
    drawLegend();
    tl.fillList();
    tl.draw();
  };
  const pinById = ({ lane: laneId, id }) => {
    for (const section of tl.sheet.sections) {
      const lane = section.tracks.find((one) => one.id === laneId);
      const slice = lane ? lane.ids.indexOf(id) : -1;
      if (slice >= 0) {
        tl.setPin({ lane, slice, section });
        return true;
      }
    }
    return false;
  };

  // Places
  tl.shiftOf = (place) => {
    if (tl.sheet.sections.length < 2) return 0;
    const side = groups.get(place.group)?.side;
    return tl.sheet.sections.find((section) => groups.get(section.group)?.side === side)?.shift ?? null;
  };
  tl.show = (place, isUse) => {
    const overlap = (window) => min(place.end_ns, window.end_ns) - max(place.start_ns, window.start_ns);
    if (tl.sheet.request) {
      if (groups.has(place.group) && !tl.sheet.groups.has(place.group)) chooseGroups([place.group]);
    } else {
      const fits = sets.flatMap((set, at) => set.map((window) => ({ at, window }))).filter(({ window }) => overlap(window) >= 0 && (window.group === place.group || (window.lanes ?? []).some((lane) => lane.group === place.group)));
      const any = fits.length ? fits : sets.flatMap((set, at) => set.map((window) => ({ at, window }))).filter(({ at, window }) => sets[at].length === 1 && overlap(window) >= 0);
      const own = any.find(({ at }) => sheets.get(at) === tl.sheet);
      if (!own && any.length) openAt(any.reduce((best, one) => (overlap(one.window) > overlap(best.window) ? one : best)).at);
    }
    const shift = tl.shiftOf(place) ?? 0;
    const [start, end] = [place.start_ns - shift, max(place.end_ns, place.start_ns + 1) - shift];
    tl.place = { id: place.id, key: tl.places.find((one) => one.id === place.id && one.start_ns === place.start_ns && one.group === place.group) ?? place, start, end };
    const margin = max(2, round((end - start) * 0.3));
    tl.go(start - margin, end + margin);
    const isInside = tl.sheet.request || tl.sheet.sections.some((section) => start < section.end - section.shift && end > section.start - section.shift);
    tl.announce(`${cut(visible(place.label), 200)}, ${duration(end - start)}${isInside ? "" : "; this page has no detail there"}`);
    if (isUse) tl.settle(false);
  };

  // Use
  tl.togglePath = () => {
    tl.showPath = !tl.showPath;
    pathTool.setAttribute("aria-pressed", String(tl.showPath));
    tl.announce(tl.showPath ? "Critical path shown" : "Critical path hidden");
    tl.draw();
  };
  tl.toggleHelp = () => { el.help.hidden = !el.help.hidden; };
  tl.escape = () => {
    if (!el.help.hidden) el.help.hidden = true;
    else if (tl.selection) {
      tl.selection = null;
      tl.measure();
    } else if (tl.pin) tl.setPin(null);
    else if (tl.place) tl.place = null;
    else tl.focus = null;
    tl.draw();
  };
  let hintTimer = 0;
  let hints = 0;
  tl.hint = () => {
    // Who scrolls past has read it after a few times.
    hints += hintTimer ? 0 : 1;
    if (hints > 3) return;
    el.hint.hidden = false;
    clearTimeout(hintTimer);
    hintTimer = setTimeout(() => {
      el.hint.hidden = true;
      hintTimer = 0;
    }, 1400);
  };
  const drawLegend = () => {
    const used = new Map();
    const whole = new Map();
    for (const section of tl.sheet.sections) {
      const seen = new Uint8Array(section.kinds.length);
      for (const lane of section.tracks) for (const color of lane.color) seen[color] = 1;
      section.kinds.forEach((kind, at) => { if (seen[at]) used.set(kind.id, kind.label); });
    }
    for (const lane of tl.strip.lanes) for (const [kind] of lane.shares) if (picture.kinds?.[kind]) whole.set(picture.kinds[kind].id, picture.kinds[kind].label);
    const item = ([id, words]) => {
      const entry = tl.palette.of(id);
      const sign = make("i", { "aria-hidden": "true", class: entry.hatched ? "tl-hatched" : "" });
      sign.style.backgroundColor = entry.fill;
      return make("li", {}, sign, visible(words));
    };
    const part = (title, kinds) => (kinds.size ? [make("li", { class: "tl-strong" }, title), ...[...kinds].map(item)] : []);
    el.legend.replaceChildren(...part("Overview", whole), make("li", { class: "tl-break" }), ...part("Detail", used));
  };

  const pathTool = tool("Critical path", "Critical path (c)", () => tl.togglePath(), "false");
  const center = () => (tl.range.start + tl.range.end) / 2;
  const used = (act) => () => {
    act();
    tl.settle(false);
  };
  // The part with GPU work, or the whole run.
  const { extent, whole } = tl.strip;
  const wholeTool = tool("Whole run", "Whole run in the overview", () => {
    const isWhole = tl.strip.extent === whole;
    tl.strip.extent = isWhole ? extent : whole;
    wholeTool.setAttribute("aria-pressed", String(!isWhole));
    tl.draw();
  }, "false");
  wholeTool.hidden = extent.start <= 0 && extent.end >= whole.end;
  el.tools.append(pathTool, wholeTool, tool("−", "Zoom out (−)", used(() => tl.zoom(2, center()))), tool("+", "Zoom in (+)", used(() => tl.zoom(0.5, center()))), tool("Fit", "Fit all (0)", used(() => tl.fitAll())), tool("?", "Keys (?)", () => tl.toggleHelp()));
  sets.forEach((set, at) => {
    if (sets.length < 2 || options.request) return;
    el.tabs.append(make("button", { type: "button", class: "tl-tab", "data-at": at, "aria-pressed": "false", title: cut(set.map((window) => visible(window.reason ?? "")).join(" "), 400), onclick: used(() => {
      tl.place = null;
      tl.openWindow(set[0].id);
    }) }, cut(set.map((window) => visible(window.label)).join(" / "), 80)));
  });
  const groupSelect = make("select", { class: "tl-select", "aria-label": "GPU", onchange: () => tl.openGroup(groupSelect.value, false) });
  if (options.request) {
    groupSelect.append(...(picture.groups ?? []).filter((group) => group.gpu !== null || tl.strip.lanes.length === 0).map((group) => make("option", { value: group.id }, cut(visible(group.label), 80))));
    el.tabs.append(groupSelect);
  }
  el.notes.append(...(picture.notes ?? []).map((words) => make("li", {}, visible(words))));
  el.notes.hidden = !el.notes.children.length;
  el.overview.setAttribute("aria-label", `Overview of ${duration(picture.span_ns ?? 0)}: ${plural(tl.strip.lanes.length, "lane")}, ${plural(tl.strip.ticks.length, tl.strip.unit || "tick")}`);

  for (const use of [tooltip, usePin, useSelection, useSearch, useList, useFlags, useRequests]) use(tl);
  tl.hasAddress = options.address !== false && !owner;
  if (tl.hasAddress) owner = tl;
  const applyAddress = useAddress(tl);
  tl.apply = (state) => {
    tl.status("");
    if (state.g && tl.sheet.request) {
      const known = state.g.split(",").filter((id) => groups.has(id)).slice(0, 16);
      if (known.length) chooseGroups(known);
    }
    const place = state.f && tl.places.find((one) => one.id === state.f || anchorMatches(one.id, state.f));
    if (place) tl.show(place, false);
    else if (state.f) tl.status(`This time line has no place of ${cut(visible(state.f), 120)}`);
    // A place may be in several windows; the address knows which one was shown.
    if (state.w && (state.range || !place)) tl.openWindow(state.w);
    if (state.range) tl.go(state.range.start, state.range.end);
    if (state.slice && !pinById(state.slice)) tl.wanted = tl.sheet.request ? state.slice : null;
    tl.draw();
  };
  const anchorMatches = (id, wanted) => id === `finding/${wanted}` || `finding/${id}` === wanted;
  if (options.request) {
    setSheet(emptySheet(picture, true));
    tl.range = { start: tl.sheet.start, end: tl.sheet.end };
    const first = groupSelect.value || tl.strip.lanes[0]?.group;
    tl.sheet.chosen = new Set(first ? [first] : []);
    tl.sheet.groups = new Set(tl.requestGroups());
  } else if (sets.length) openAt(0);
  else setSheet(emptySheet(picture, false));
  tl.go(tl.sheet.start, tl.sheet.end);
  useOverview(tl);
  usePointer(tl);
  useKeys(tl);
  if (tl.hasAddress) applyAddress(true);
  paint();
  tl.load(true);

  // Size, theme and resolution of the screen
  const restyle = () => {
    tl.palette = paletteOf(host);
    drawLegend();
    tl.draw();
  };
  const sizes = new ResizeObserver(() => tl.draw());
  sizes.observe(el.live);
  const themes = new MutationObserver(restyle);
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class"] });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  listen(dark, "change", restyle);
  listen(window, "resize", tl.draw);
  listen(el.scroller, "scroll", tl.draw, { passive: true });
  const scrolled = () => tl.hideTip();
  listen(window, "scroll", scrolled, { passive: true });

  return {
    show: (place) => tl.show(typeof place === "string" ? tl.places.find((one) => one.id === place) ?? { id: place, label: place, start_ns: 0, end_ns: tl.limits.end } : place, true),
    range: () => ({ start_ns: tl.range.start, end_ns: tl.range.end, groups: [...tl.sheet.groups] }),
    go: (start, end) => { tl.go(start, end); tl.settle(false); },
    zoom: (factor, time) => tl.zoom(factor, time ?? center()),
    // Lane and slice at a point of the detail, and the box of a slice: for tests.
    at: (x, y) => {
      const hit = hitAt(tl, x, y);
      return hit && { lane: hit.lane.id, slice: hit.slice, id: hit.slice < 0 ? null : hit.lane.ids[hit.slice], start_ns: hit.slice < 0 ? null : hit.lane.start[hit.slice], name: hit.slice < 0 ? null : hit.lane.section.names[hit.lane.name[hit.slice]] };
    },
    box: (laneId, slice, sectionAt = 0) => {
      const lane = tl.sheet.sections[sectionAt]?.tracks.find((one) => one.id === laneId);
      return lane ? boxOf(tl, lane, slice) : null;
    },
    color: (kind) => tl.palette.of(kind),
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
      removeEventListener("scroll", scrolled);
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      el.live.remove();
      host.classList.remove("tl-mounted");
    },
  };
};
