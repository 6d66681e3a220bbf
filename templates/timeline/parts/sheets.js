// The sheet that the detail shows: a window, or what a server answers for the chosen groups.
import { sectionOf } from "./decode.js";
import { make } from "./dom.js";
import { max, min } from "./numbers.js";
import { sectionOfAnswer } from "./request.js";
import { plural, visible } from "./text.js";

const sideOf = (picture, window) => picture.groups?.find((group) => group.id === window.group)?.side ?? (["base", "new"].includes(window.id) ? window.id : null);

// Lists of windows that are drawn together.
export const windowSets = (picture) => {
  const sets = [];
  const windows = picture.windows ?? [];
  for (let at = 0; at < windows.length; at += 1) {
    const next = windows[at + 1];
    if (next && (next.pairs || (sideOf(picture, windows[at]) === "base" && sideOf(picture, next) === "new"))) {
      sets.push([windows[at], next]);
      at += 1;
    } else sets.push([windows[at]]);
  }
  return sets;
};

export const sheetOf = (picture, set) => {
  const sections = set.map((window) => sectionOf(window, picture.names ?? [], picture.kinds ?? [], window.start_ns - set[0].start_ns));
  const start = min(...sections.map((section) => section.start - section.shift));
  const first = sections.flatMap((section) => section.tracks.filter((lane) => lane.count).map((lane) => lane.start[0] - section.shift));
  return {
    sections, pairs: set[1]?.pairs ?? [], request: false, chosen: new Set(), unseen: new Set(), start, end: max(...sections.map((section) => section.end - section.shift)), earliest: min(start, ...first),
    groups: new Set(sections.flatMap((section) => [section.group, ...section.tracks.map((lane) => lane.group)])), label: sections.map((section) => section.label).join(" and "),
    reasons: set.map((window) => window.reason).filter(Boolean),
  };
};

export const emptySheet = (picture, request) => ({ ...sheetOf(picture, []), request, start: 0, end: max(1, picture.span_ns ?? 1), earliest: 0 });

// The same slice in another answer.
const again = (hit, section) => {
  const lane = hit && section.tracks.find((one) => one.id === hit.lane.id);
  if (!lane) return null;
  if (hit.slice < 0) return { ...hit, lane, section };
  const [id, start] = [hit.lane.ids[hit.slice], hit.lane.start[hit.slice]];
  for (let slice = 0; slice < lane.count; slice += 1) if (id >= 0 ? lane.ids[slice] === id && lane.start[slice] === start : lane.start[slice] === start && lane.ids[slice] < 0) return { lane, slice, section };
  return null;
};

export const useSheets = (tl) => {
  const { el, groups, options, picture, sets, sheets } = tl;

  tl.setSheet = (sheet) => {
    tl.sheet = sheet;
    Object.assign(tl, { hover: null, focus: null, selection: null });
    el.selectionPanel.hidden = true;
    const isPair = sheet.sections.length > 1;
    tl.limits = isPair ? { start: min(sheet.start, sheet.earliest), end: sheet.end } : { start: min(0, sheet.start, sheet.earliest), end: max(tl.strip.whole.end, sheet.end) };
    tl.setPin(null);
    if (tl.search) tl.searchAgain();
    el.reason.replaceChildren(...sheet.reasons.map((words, at) => make("span", `${visible(sheet.sections[at]?.label ?? "")}: ${visible(words)}`)));
    el.reason.hidden = !sheet.reasons.length;
    for (const tab of el.tabs.children) if (tab.dataset.at) tab.setAttribute("aria-pressed", !sheet.request && sets[tab.dataset.at][0].id === sheet.sections[0]?.id);
    tl.el.pathTool.hidden = !sheet.request && !sheet.sections.some((section) => section.path.length);
    el.canvas.setAttribute("aria-label", `${sheet.label || "Detail"}: ${plural(sheet.sections.reduce((sum, section) => sum + section.tracks.length, 0), "lane")}`);
    tl.drawLegend();
    tl.countUnseen();
  };
  tl.openAt = (at) => {
    if (!sheets.has(at)) sheets.set(at, sheetOf(picture, sets[at]));
    tl.setSheet(sheets.get(at));
  };
  tl.openWindow = (id, range) => {
    const at = sets.findIndex((set) => set.some((window) => window.id === id));
    if (at < 0) return false;
    tl.openAt(at);
    if (range) tl.go(range.start, range.end);
    else tl.fitAll();
    tl.announce(tl.sheet.label);
    return true;
  };
  // A range that was moved onto another window shows that one.
  tl.followRange = () => {
    if (tl.sheet.request || tl.sheet.sections.length > 1) return;
    const { start, end } = tl.range;
    const overlap = (window) => min(end, window.end_ns) - max(start, window.start_ns);
    let best = -1;
    sets.forEach((set, at) => { if (set.length === 1 && overlap(set[0]) > 0 && (best < 0 || overlap(set[0]) > overlap(sets[best][0]))) best = at; });
    const own = sets.findIndex((set) => set[0].id === tl.sheet.sections[0]?.id);
    if (best < 0 || best === own || (own >= 0 && overlap(sets[own][0]) >= overlap(sets[best][0]))) return;
    tl.openAt(best);
    tl.go(start, end);
  };

  // Groups of a server
  tl.requestGroups = () => {
    const ids = new Set(tl.sheet.chosen);
    for (const id of tl.sheet.chosen) {
      const group = groups.get(id);
      for (const other of groups.values()) if (group && other.gpu === null && other.id === group.id.replace(/g-?\d+$/, "")) ids.add(other.id);
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
    tl.chooseGroups([...chosen]);
  };
  tl.chooseGroups = (ids) => {
    tl.sheet.chosen = new Set(ids);
    tl.sheet.groups = new Set(tl.requestGroups());
    tl.el.groupSelect.value = ids[0] ?? "";
    tl.load(true);
    tl.draw();
    tl.settle(false);
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
      tl.pinById(wanted);
    }
    if (tl.search) {
      const at = tl.search.current;
      tl.searchAgain();
      if (tl.search && at >= 0) tl.search.current = tl.focus ? tl.search.matches.findIndex((match) => match.lane === tl.focus.lane && match.slice === tl.focus.slice) : -1;
    }
    el.canvas.setAttribute("aria-label", `Detail: ${plural(section.tracks.length, "lane")}`);
    tl.drawLegend();
    tl.fillList();
    tl.draw();
  };
  tl.pinById = ({ lane: laneId, id }) => {
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
};
