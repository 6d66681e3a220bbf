// Pictures and answers as typed arrays, with rows that can be searched.
import { max, min } from "./numbers.js";
import { visible } from "./text.js";

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// Shares of bins. After `~` they are packed: a byte below 128 is followed by one more byte than it says, another one is 126 more than how
// often the next byte stands.
export const sharesOf = (text, bins) => {
  if (text[0] !== "~") return bytes(text);
  const packed = bytes(text.slice(1));
  const out = new Uint8Array(bins);
  let to = 0;
  for (let at = 0; at < packed.length; at += 1) {
    const first = packed[at];
    const count = first < 128 ? first + 1 : first - 126;
    if (first < 128) out.set(packed.subarray(at + 1, at + 1 + min(count, bins - to)), to);
    else out.fill(packed[at + 1], to, to + count);
    at += first < 128 ? count : 1;
    to += count;
  }
  return out;
};

// A row of slices in the order of start. `reach` holds the largest end so far, so that a search works if slices overlap.
const rowOf = (index, lane) => {
  const reach = new Float64Array(index.length);
  let last = -Infinity;
  for (let at = 0; at < index.length; at += 1) {
    last = max(last, lane.end[index[at]]);
    reach[at] = last;
  }
  return { index, reach };
};

const column = (values, Kind) => (values?.length ? Kind.from(values) : null);

const laneOf = (raw, base, section) => {
  const slices = raw.slices ?? {};
  const count = min(slices.start_ns?.length ?? 0, slices.length_ns?.length ?? 0);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  let at = base;
  for (let slice = 0; slice < count; slice += 1) {
    at += slices.start_ns[slice];
    start[slice] = at;
    end[slice] = at + max(0, slices.length_ns[slice]);
  }
  const lane = {
    id: raw.id, group: raw.group, kind: raw.kind, label: visible(raw.label), resolution: raw.resolution_ns ?? 0, section, count, start, end,
    name: column(slices.name, Int32Array) ?? new Int32Array(count).fill(-1),
    color: column(slices.kind, Int32Array) ?? new Int32Array(count),
    ids: column(slices.id, Float64Array) ?? new Float64Array(count).fill(-1),
    level: column(slices.level, Int32Array), events: column(slices.count, Float64Array),
    busy: column(slices.busy_ns, Float64Array), mark: column(slices.mark, Uint8Array), about: column(slices.about, Int32Array),
  };
  const levels = [];
  for (let slice = 0; slice < count; slice += 1) (levels[max(0, lane.level?.[slice] ?? 0)] ??= []).push(slice);
  lane.rows = Array.from({ length: max(1, raw.levels ?? 1, levels.length) }, (_, level) => rowOf(Int32Array.from(levels[level] ?? []), lane));
  return lane;
};

// A window or an answer. Times of lanes count from the origin; `shift` is added to the time that is shown.
export const sectionOf = (raw, names, kinds, shift) => {
  const section = { id: raw.id, label: visible(raw.label), group: raw.group, start: raw.start_ns, end: raw.end_ns, shift, names, kinds };
  section.tracks = (raw.lanes ?? []).map((lane) => laneOf(lane, raw.start_ns, section));
  section.flows = raw.flows ?? [];
  section.links = null;
  const path = raw.path ?? {};
  let at = raw.start_ns;
  section.path = (path.start_ns ?? []).map((start, part) => {
    at += start;
    return { start: at, end: at + (path.length_ns[part] ?? 0), lane: path.lane?.[part] ?? -1 };
  });
  return section;
};

// The first place of a row whose slice ends after a time.
export const firstAfter = (row, time) => {
  let low = 0;
  let high = row.reach.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.reach[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
};

// The first place of a row whose slice starts at a time or later.
export const firstFrom = (row, lane, time) => {
  let low = 0;
  let high = row.index.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[row.index[middle]] >= time) high = middle;
    else low = middle + 1;
  }
  return low;
};

export const nameOf = (lane, slice) => visible(lane.section.names[lane.name[slice]] ?? "?");
export const aboutOf = (lane, slice) => (lane.about && lane.about[slice] >= 0 ? visible(lane.section.names[lane.about[slice]]) : "");
export const eventsOf = (lane, slice) => lane.events?.[slice] || 1;
export const busyOf = (lane, slice) => lane.busy?.[slice] ?? lane.end[slice] - lane.start[slice];
export const kindOf = (lane, slice) => lane.section.kinds[lane.color[slice]] ?? { id: "other", label: "other" };

// The partners of a slice by flows: calls of a kernel, kernels of a call.
export const partnersOf = (section, lane, slice) => {
  if (!section.links) {
    section.links = new Map();
    const add = (from, to) => {
      const key = `${from[0]}:${from[1]}`;
      if (section.links.has(key)) section.links.get(key).push(to);
      else section.links.set(key, [to]);
    };
    for (const [a, b, c, d] of section.flows) {
      add([a, b], [c, d]);
      add([c, d], [a, b]);
    }
  }
  return section.links.get(`${section.tracks.indexOf(lane)}:${slice}`) ?? [];
};
