// Heights of lanes, and the vertical place of each row.
import { max, min, round } from "./numbers.js";

const HEIGHTS = { kernels: 24, copies: 16, gaps: 14, calls: 16, ranges: 18, operators: 16, counter: 22 };
export const RULER = 24;
const HEAD = 24;
// Kinds of lanes of GPUs.
export const WORK = new Set(["kernels", "copies", "gaps"]);

// The width of labels before the lanes; narrow screens have them above.
export const gutterOf = (width) => (width >= 720 ? min(190, max(164, round(width * 0.13))) : 0);

// Rows of a sheet: heads of groups, and lanes with their levels. GPUs of a comparison are next to each other, and hosts below them.
export const layoutOf = (sheet, width, groupLabel) => {
  const gutter = gutterOf(width);
  const caption = gutter ? 0 : 14;
  const rows = [];
  let y = 4;
  const isPair = sheet.sections.length > 1;
  for (const isHost of isPair ? [false, true] : [null]) {
    for (const section of sheet.sections) {
      let group = null;
      for (const lane of section.tracks) {
        if (sheet.unseen.has(lane.id) || (isPair && isHost === WORK.has(lane.kind))) continue;
        if (lane.group !== group) {
          group = lane.group;
          rows.push({ y, height: HEAD - 2, label: (isPair ? `${section.id}: ` : "") + groupLabel(group) });
          y += HEAD;
        }
        const height = HEIGHTS[lane.kind] ?? 16;
        const total = height * lane.rows.length + caption;
        rows.push({ y, height: total, top: y + caption, rowHeight: height, lane, section });
        y += total + 4;
      }
      y += 8;
    }
  }
  return { rows, gutter, height: y, lanes: rows.filter((row) => row.lane) };
};
