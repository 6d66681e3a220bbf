// The elements of a time line. The mount point holds the static picture, which paper and browsers without scripts show.
import { make } from "./dom.js";

let serial = 0;

export const frameOf = (host) => {
  serial += 1;
  const id = `tl-${serial}`;
  const still = host.querySelector(":scope > .tl-still") ?? make("div.still");
  if (!still.parentElement) {
    still.append(...host.childNodes);
    host.append(still);
  }
  const el = {
    still,
    live: make("div.live"),
    tabs: make("div.tabs", { role: "group", "aria-label": "Part of the run" }),
    reason: make("p.reason"),
    overview: make("canvas.overview", { role: "img" }),
    canvas: make("canvas.canvas", { tabindex: "0", role: "application", "aria-roledescription": "time line", "aria-describedby": `${id}-how` }),
    scroller: make("div.scroller"),
    spacer: make("div.spacer"),
    flags: make("div.flags", { role: "group", "aria-label": "Places of findings in view" }),
    searchInput: make("input.search", { type: "search", placeholder: "Search names (regex)", "aria-label": "Search names by regular expression", autocomplete: "off", spellcheck: "false" }),
    searchCount: make("span.count"),
    matches: make("span", { hidden: true }),
    read: make("span.read"),
    status: make("div.status", { role: "status", hidden: true }),
    legend: make("ul.legend", { "aria-label": "Colors" }),
    pinPanel: make("section.panel", { "aria-label": "Pinned slice", hidden: true }),
    selectionPanel: make("section.panel", { "aria-label": "Measured range", hidden: true }),
    placesList: make("details.fold"),
    list: make("details.fold"),
    notes: make("ul.notes"),
    help: make("section.panel.help", { "aria-label": "Keys", hidden: true }),
    speaker: make("div.unseen", { "aria-live": "polite", role: "status" }),
    hint: make("div.hint", { "aria-hidden": "true", hidden: true }, "Click the time line to zoom with the wheel, or hold Ctrl"),
    tools: make("div.tools"),
    foot: make("div.foot"),
  };
  el.scroller.append(el.canvas, el.spacer);
  el.help.append(make("h3", "Keys"), make("dl.keys", ...KEYS.map(([keys, does]) => make("div", make("dt", make("kbd", keys)), make("dd", does)))));
  el.how = make("p.unseen", { id: `${id}-how` }, "Arrow keys move in time and between lanes, plus and minus zoom, comma and period go through slices, Enter pins, question mark lists all keys. A table is below.");
  const bar = make("div.bar", el.tabs, make("div.find", el.searchInput, el.searchCount, el.matches, el.tools));
  el.foot.append(el.legend, el.read);
  el.live.append(bar, el.reason, make("div.overview-box", el.overview), el.status, el.flags, make("div.detail-box", el.scroller, el.hint), el.foot, el.help,
    make("div.panels", el.pinPanel, el.selectionPanel), el.notes, el.placesList, el.list, el.how, el.speaker);
  host.append(el.live);
  host.classList.add("tl", "tl-mounted");
  return el;
};

export const tool = (words, title, act, pressed) => make("button.button", { title, "aria-label": title, "aria-pressed": pressed, onclick: act }, words);
