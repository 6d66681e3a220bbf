// Showing the place of a finding.
import { max, min, round } from "./numbers.js";
import { cut, visible } from "./text.js";
import { duration } from "./time.js";

export const usePlaces = (tl) => {
  const { groups, sets, sheets } = tl;

  tl.shiftOf = (place) => {
    if (tl.sheet.sections.length < 2) return 0;
    const side = groups.get(place.group)?.side;
    return tl.sheet.sections.find((section) => groups.get(section.group)?.side === side)?.shift ?? null;
  };
  tl.show = (place, isUse) => {
    const overlap = (window) => min(place.end_ns, window.end_ns) - max(place.start_ns, window.start_ns);
    if (tl.sheet.request) {
      if (groups.has(place.group) && !tl.sheet.groups.has(place.group)) tl.chooseGroups([place.group]);
    } else {
      const fits = sets.flatMap((set, at) => set.map((window) => ({ at, window }))).filter(({ window }) => overlap(window) >= 0 && (window.group === place.group || (window.lanes ?? []).some((lane) => lane.group === place.group)));
      const any = fits.length ? fits : sets.flatMap((set, at) => set.map((window) => ({ at, window }))).filter(({ at, window }) => sets[at].length === 1 && overlap(window) >= 0);
      const own = any.find(({ at }) => sheets.get(at) === tl.sheet);
      if (!own && any.length) tl.openAt(any.reduce((best, one) => (overlap(one.window) > overlap(best.window) ? one : best)).at);
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
};
