// Places of findings: flags above the detail, and a list. Each leads to its finding.
import { button, make, small } from "./dom.js";
import { max, min, round } from "./numbers.js";
import { cut, plural, visible } from "./text.js";
import { duration } from "./time.js";

const ROW = 22;
// The same height at every range, so that nothing moves while one zooms.
const ROWS = 2;

export const anchorOf = (place) => (document.getElementById(place.id) ? place.id : `finding/${place.id}`);

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
      const flag = make("a", { class: `tl-flag${tl.place?.id === place.id ? " tl-current" : ""}`, href: `#${anchorOf(place)}`, title: `${cut(place.text, 300)}: to the finding`, onclick: follow(place) }, make("span", {}, cut(place.text, 80)), bar);
      flag.style.left = `${from}px`;
      flag.style.top = `${row * ROW}px`;
      flag.style.width = `${size}px`;
      return flag;
    }));
    if (hidden) {
      const more = make("span", { class: "tl-more" }, plural(hidden, "more place"));
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
  const items = places.slice(0, 300).map((place) => make("li", {},
    button("tl-link", () => tl.show(place, true), cut(place.text, 160)),
    make("span", { class: "tl-small" }, ` ${tl.groupLabel(place.group)}, ${duration(place.end_ns - place.start_ns)} at ${duration(place.start_ns)} `),
    make("a", { href: `#${anchorOf(place)}`, onclick: follow(place) }, "finding")));
  list.append(make("summary", {}, `Places of findings (${places.length})`), make("ol", {}, ...items));
  if (places.length > 300) list.append(small(`${places.length - 300} more are only in the picture.`));
};
