// Heights of lanes, and the vertical place of each row.
import { min, round } from "./numbers.js";

const HEIGHTS = { kernels: 24, copies: 16, gaps: 14, calls: 16, ranges: 18, operators: 16, counter: 22 };
export const RULER = 24;
const HEAD = 24;

// Rows of a sheet: heads of sections and groups, and lanes with their levels.
export const layoutOf = (sheet, width, groupLabel) => {
  const gutter = width >= 720 ? min(190, round(width * 0.13)) : 0;
  const caption = gutter ? 0 : 14;
  const rows = [];
  let y = 4;
  let lane = 0;
  for (const section of sheet.sections) {
    let group = null;
    const isTitled = sheet.sections.length > 1;
    if (isTitled) {
      rows.push({ type: "head", y, height: HEAD, section });
      y += HEAD;
    }
    for (const one of section.tracks) {
      if (one.group !== group) {
        group = one.group;
        rows.push({ type: "group", y, height: HEAD - 2, section, label: groupLabel(group) });
        y += HEAD;
      }
      const height = HEIGHTS[one.kind] ?? 16;
      const total = height * one.rows.length + caption;
      rows.push({ type: "lane", y, height: total, top: y + caption, rowHeight: height, lane: one, index: lane, section });
      y += total + 4;
      lane += 1;
    }
    y += 8;
  }
  return { rows, gutter, height: y, lanes: rows.filter((row) => row.type === "lane") };
};
