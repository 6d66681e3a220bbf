// The same as a table: the visible slices of one lane, for readers who cannot use a picture.
import { aboutOf, eventsOf, firstAfter, kindOf, nameOf } from "./decode.js";
import { button, listen, make, small } from "./dom.js";
import { cut, grouped, visible } from "./text.js";
import { exactly } from "./time.js";

const MOST = 200;

export const useList = (tl) => {
  const { list } = tl.el;
  const choice = make("select.select", { "aria-label": "Lane of the table" });
  const longest = make("input", { type: "checkbox", onchange: () => tl.fillList() });
  const body = make("tbody");
  const note = small();
  const head = make("tr", ...["Start", "Duration", "Name", "Kind", "About"].map((name) => make("th", { scope: "col" }, name)));
  list.append(make("summary", "The visible slices as a table"), make("p", make("label", "Lane ", choice), " ", make("label", longest, " longest first")), make("div.scroll", { tabindex: "0", role: "region", "aria-label": "Visible slices" }, make("table.table", make("thead", head), body)), note);
  let lanes = [];

  tl.fillList = () => {
    if (!list.open) return;
    const now = tl.sheet.sections.flatMap((section) => section.tracks);
    if (now.length !== lanes.length || now.some((lane, at) => lane !== lanes[at])) {
      lanes = now;
      choice.replaceChildren(...lanes.map((lane, at) => make("option", { value: at }, cut(`${tl.sheet.sections.length > 1 ? `${lane.section.label}: ` : ""}${tl.groupLabel(lane.group)}, ${lane.label}`, 120))));
    }
    const place = lanes.indexOf(tl.focus?.lane);
    if (place >= 0) choice.value = place;
    const lane = lanes[Number(choice.value)];
    const all = [];
    for (const row of lane?.rows ?? []) {
      const { shift } = lane.section;
      for (let at = firstAfter(row, tl.range.start + shift - 1); at < row.index.length; at += 1) {
        const slice = row.index[at];
        if (lane.start[slice] >= tl.range.end + shift) break;
        all.push(slice);
      }
    }
    const length = (slice) => lane.end[slice] - lane.start[slice];
    all.sort((a, b) => (longest.checked && length(b) - length(a)) || lane.start[a] - lane.start[b]);
    const rows = all.slice(0, MOST);
    const others = all.length - rows.length;
    body.replaceChildren(...rows.map((slice) => {
      const events = eventsOf(lane, slice);
      const open = button("link", () => { tl.setPin({ lane, slice, section: lane.section }); tl.settle(false); }, cut(nameOf(lane, slice), 200));
      return make("tr", make("td", exactly(lane.start[slice])), make("td", exactly(length(slice))), make("th", { scope: "row" }, events > 1 ? `${grouped(events)} × ` : "", open), make("td", visible(kindOf(lane, slice).label)), make("td", cut(aboutOf(lane, slice), 200)));
    }));
    note.textContent = rows.length === 0 ? "No slices are visible." : others ? `${grouped(others)} more slices are visible; zoom in for them.` : "";
  };
  listen(choice, "change", () => {
    const lane = lanes[Number(choice.value)];
    tl.focus = { lane, slice: -1 };
    tl.draw();
    tl.fillList();
  });
  listen(list, "toggle", () => tl.fillList());
};
