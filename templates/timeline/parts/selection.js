// A measured range: its length, and the time that each kind covers in it.
import { eventsOf, firstAfter } from "./decode.js";
import { button, make, small } from "./dom.js";
import { WORK } from "./layout.js";
import { max, min, round } from "./numbers.js";
import { grouped, percent, plural, visible } from "./text.js";
import { exactly } from "./time.js";

// Length of the union of intervals.
export const covered = (intervals) => {
  intervals.sort((a, b) => a[0] - b[0]);
  let sum = 0;
  let reach = -Infinity;
  for (const [start, end] of intervals) {
    if (end <= reach) continue;
    sum += end - max(start, reach);
    reach = end;
  }
  return sum;
};

// Per section and group: covered time by kind, and the number of kernels. Slices that cross the border count with their part inside.
export const measure = (sheet, { start, end }) => {
  const groups = new Map();
  for (const section of sheet.sections) {
    const [from, to] = [start + section.shift, end + section.shift];
    for (const lane of section.tracks) {
      if (!WORK.has(lane.kind)) continue;
      const key = `${section.id}|${lane.group}`;
      if (!groups.has(key)) groups.set(key, { section, group: lane.group, kinds: new Map(), kernels: 0, isSum: false, work: [] });
      const group = groups.get(key);
      for (const row of lane.rows) {
        for (let at = firstAfter(row, from); at < row.index.length; at += 1) {
          const slice = row.index[at];
          if (lane.start[slice] >= to) break;
          if (lane.end[slice] <= from) continue;
          const kind = section.kinds[lane.color[slice]] ?? { id: "other", label: "other" };
          if (!group.kinds.has(kind.id)) group.kinds.set(kind.id, { kind, intervals: [] });
          const length = lane.end[slice] - lane.start[slice];
          if (lane.kind === "kernels") group.kernels += eventsOf(lane, slice);
          // A sum covers a part of its length, at no known place.
          const share = lane.busy && length > 0 ? lane.busy[slice] / length : 1;
          if (share < 1) group.isSum = true;
          const a = max(from, lane.start[slice]);
          const part = [a, a + (min(to, lane.end[slice]) - a) * share];
          group.kinds.get(kind.id).intervals.push(part);
          if (lane.kind !== "gaps") group.work.push(part);
        }
      }
    }
  }
  return [...groups.values()].map((group) => ({
    ...group, busy: covered(group.work), kinds: [...group.kinds.values()].map(({ kind, intervals }) => ({ kind, covered: round(covered(intervals)) })).sort((a, b) => b.covered - a.covered),
  }));
};

export const useSelection = (tl) => {
  const panel = tl.el.selectionPanel;
  tl.measure = () => {
    const { selection } = tl;
    panel.hidden = !selection;
    panel.replaceChildren();
    if (!selection) return;
    const length = selection.end - selection.start;
    const groups = length > 0 ? measure(tl.sheet, selection) : [];
    panel.append(make("div.panel-head", make("h3", "Measured range"), button("button", () => { tl.selection = null; tl.measure(); tl.draw(); }, "Close")),
      make("p", `${exactly(length)} from ${exactly(selection.start)}`));
    for (const group of groups.slice(0, 8)) {
      const rows = group.kinds.map(({ kind, covered }) => {
        const bar = make("i");
        bar.style.width = `${min(100, (covered / length) * 100)}%`;
        bar.style.background = tl.palette.of(kind.id).fill;
        return make("div.share", make("dt", visible(kind.label)), make("dd", make("span", `${percent(covered / length)}`), bar));
      });
      const about = tl.sheet.sections.length > 1 ? `${group.section.label}: ` : "";
      panel.append(make("p.strong", `${about}${tl.groupLabel(group.group)}: ${plural(group.kernels, "kernel")}, busy ${percent(group.busy / length)}`), make("dl.shares", ...rows));
      if (group.isSum) panel.append(small("Some slices sum up several events; zoom in and measure again for exact shares."));
    }
    if (groups.length > 8) panel.append(small(`${grouped(groups.length - 8)} more GPUs are not listed.`));
    panel.append(small("Shares of the range in which at least one slice of the kind runs, added up from the slices shown. Kinds may overlap."));
    const top = groups[0]?.kinds[0];
    tl.announce(`Measured ${exactly(length)}${top ? `, ${visible(top.kind.label)} ${percent(top.covered / length)}` : ""}`);
  };
};
