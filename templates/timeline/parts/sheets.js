// Sheets are the contents of the detail: a window, a pair of windows that are compared, or answers of a server.
import { sectionOf } from "./decode.js";
import { max, min } from "./numbers.js";

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
  const base = set[0];
  const sections = set.map((window) => sectionOf(window, picture.names ?? [], picture.kinds ?? [], window.start_ns - base.start_ns));
  const shown = sections.map((section) => [section.start - section.shift, section.end - section.shift]);
  const first = sections.flatMap((section) => section.tracks.filter((lane) => lane.count).map((lane) => lane.start[0] - section.shift));
  return {
    sections, pairs: set[1]?.pairs ?? [], request: false, chosen: new Set(), start: min(...shown.map(([start]) => start)), end: max(...shown.map(([, end]) => end)), earliest: min(...first, base.start_ns),
    groups: new Set(sections.flatMap((section) => [section.group, ...section.tracks.map((lane) => lane.group)])), label: sections.map((section) => section.label).join(" and "),
    reasons: set.map((window) => window.reason).filter(Boolean),
  };
};

export const emptySheet = (picture, request) => ({
  sections: [], pairs: [], request, chosen: new Set(), start: 0, end: max(1, picture.span_ns ?? 1), earliest: 0, groups: new Set(), label: "", reasons: [],
});
