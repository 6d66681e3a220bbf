// Places of findings: showing one, flags above the detail, and a list. Each leads to its finding.
import { button, make } from "./dom.js";
import { max, min, round } from "./numbers.js";
import { cut, plural, visible } from "./text.js";
import { duration } from "./time.js";

const ROW = 22;
// The same height at every range, so that nothing moves while one zooms.
const ROWS = 2;

// The card of a finding has an id without characters that links cannot contain; its link to this place knows the finding.
export const anchorOf = ({ id }) => {
  const link = [...document.querySelectorAll("[data-place]")].find((one) => one.dataset.place === id);
  return link?.closest("[id]")?.id ?? (document.getElementById(id) ? id : `finding/${id}`);
};

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

export const useFlags = (tl) => {
  const box = tl.el.flags;
  const places = (tl.picture.places ?? []).map((place) => ({ ...place, text: visible(place.label) }));
  let key = "";

  const follow = (place) => (event) => {
    if (!tl.options.open) return;
    event.preventDefault();
    tl.options.open(place.id);
  };

  tl.drawFlags = () => {
    if (!tl.view || !places.length) return;
    const { left, width } = tl.view;
    const shown = places.map((place) => ({ place, shift: tl.shiftOf(place) })).filter(({ shift }) => shift !== null)
      .map(({ place, shift }) => ({ place, a: left + (place.start_ns - shift - tl.range.start) * tl.view.per, b: left + (place.end_ns - shift - tl.range.start) * tl.view.per }))
      .filter(({ a, b }) => b >= left && a <= width).sort((x, y) => x.a - y.a);
    const ends = [];
    let hidden = 0;
    const flags = [];
    for (const { place, a, b } of shown) {
      const from = min(max(left, a), width - 60);
      const size = min(230, width - from, max(60, 16 + place.text.length * 6.8));
      let row = ends.findIndex((end) => end <= from);
      if (row < 0) row = ends.length;
      if (row >= min(ROWS, places.length)) {
        hidden += 1;
        continue;
      }
      ends[row] = from + size + 4;
      flags.push({ place, from, size, row, x0: max(left, a), x1: min(width, max(a + 2, b)) });
    }
    const next = JSON.stringify([flags.map((flag) => [flag.place.id, round(flag.from), round(flag.size), flag.row, round(flag.x1)]), hidden, tl.place?.id]);
    if (next === key) return;
    key = next;
    box.replaceChildren(...flags.map(({ place, from, size, row, x0, x1 }) => {
      const bar = make("i", { "aria-hidden": "true" });
      bar.style.width = `${max(2, min(x1, from + size) - x0)}px`;
      const flag = make(tl.place?.id === place.id ? "a.flag.current" : "a.flag", { href: `#${anchorOf(place)}`, title: `${cut(place.text, 300)}: to the finding`, onclick: follow(place) }, make("span", cut(place.text, 80)), bar);
      flag.style.left = `${from}px`;
      flag.style.top = `${row * ROW}px`;
      flag.style.width = `${size}px`;
      return flag;
    }));
    if (hidden) {
      const more = make("span.more", plural(hidden, "more place"));
      if (left) more.style.maxWidth = `${left - 2}px`;
      more.style[left ? "left" : "right"] = 0;
      box.append(more);
    }
  };

  tl.stepPlace = (direction) => {
    if (!places.length) return tl.announce("No places of findings");
    const at = places.findIndex((place) => tl.place?.key === place);
    const next = places[(at < 0 ? (direction > 0 ? 0 : places.length - 1) : at + direction + places.length) % places.length];
    tl.show(next, true);
  };
  tl.places = places;
  if (places.length) box.style.height = `${min(ROWS, places.length) * ROW + 1}px`;

  const list = tl.el.placesList;
  list.hidden = places.length === 0;
  if (!places.length) return;
  const items = places.map((place) => make("li",
    button("link", () => tl.show(place, true), cut(place.text, 160)),
    make("span.small", ` ${tl.groupLabel(place.group)}, ${duration(place.end_ns - place.start_ns)} at ${duration(place.start_ns)} `),
    make("a", { href: `#${anchorOf(place)}`, onclick: follow(place) }, "finding")));
  list.append(make("summary", `Places of findings (${places.length})`), make("ol", ...items));
};
