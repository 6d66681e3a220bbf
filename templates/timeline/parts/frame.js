// The elements of a time line. The mount point holds the static picture, which paper and browsers without scripts show.
import { make } from "./dom.js";

let serial = 0;

export const frameOf = (host) => {
  serial += 1;
  const id = `tl-${serial}`;
  const still = host.querySelector(":scope > .tl-still") ?? make("div", { class: "tl-still" });
  if (!still.parentElement) {
    still.append(...host.childNodes);
    host.append(still);
  }
  const el = {
    still,
    live: make("div", { class: "tl-live" }),
    tabs: make("div", { class: "tl-tabs", role: "group", "aria-label": "Part of the run" }),
    reason: make("p", { class: "tl-reason" }),
    overview: make("canvas", { class: "tl-overview", role: "img" }),
    canvas: make("canvas", { class: "tl-canvas", tabindex: "0", role: "application", "aria-roledescription": "time line", "aria-describedby": `${id}-how` }),
    scroller: make("div", { class: "tl-scroller" }),
    spacer: make("div", { class: "tl-spacer" }),
    flags: make("div", { class: "tl-flags", role: "group", "aria-label": "Places of findings in view" }),
    searchInput: make("input", { type: "search", class: "tl-search", placeholder: "Search names (regex)", "aria-label": "Search names by regular expression", autocomplete: "off", spellcheck: "false" }),
    searchCount: make("span", { class: "tl-count" }),
    read: make("span", { class: "tl-read" }),
    status: make("div", { class: "tl-status", role: "status", hidden: true }),
    legend: make("ul", { class: "tl-legend", "aria-label": "Colors" }),
    pinPanel: make("section", { class: "tl-panel", "aria-label": "Pinned slice", hidden: true }),
    selectionPanel: make("section", { class: "tl-panel", "aria-label": "Measured range", hidden: true }),
    placesList: make("details", { class: "tl-fold" }),
    list: make("details", { class: "tl-fold" }),
    notes: make("ul", { class: "tl-notes" }),
    help: make("section", { class: "tl-panel tl-help", "aria-label": "Keys", hidden: true }),
    speaker: make("div", { class: "tl-unseen", "aria-live": "polite", role: "status" }),
    hint: make("div", { class: "tl-hint", "aria-hidden": "true", hidden: true }, "Click the time line to zoom with the wheel, or hold Ctrl"),
    tools: make("div", { class: "tl-tools" }),
  };
  el.scroller.append(el.canvas, el.spacer);
  el.help.append(make("h3", {}, "Keys"), make("dl", { class: "tl-keys" }, ...KEYS.map(([keys, does]) => make("div", {}, make("dt", {}, make("kbd", {}, keys)), make("dd", {}, does)))));
  el.how = make("p", { id: `${id}-how`, class: "tl-unseen" }, "Arrow keys move in time and between lanes, plus and minus zoom, comma and period go through slices, Enter pins one, question mark lists all keys. The visible slices are in a table below.");
  const bar = make("div", { class: "tl-bar" }, el.tabs, make("div", { class: "tl-find" }, el.searchInput, el.searchCount), el.tools);
  el.live.append(bar, el.reason, make("div", { class: "tl-overview-box" }, el.overview), el.status, el.flags, make("div", { class: "tl-detail-box" }, el.scroller, el.hint), make("div", { class: "tl-foot" }, el.legend, el.read), el.help,
    make("div", { class: "tl-panels" }, el.pinPanel, el.selectionPanel), el.notes, el.placesList, el.list, el.how, el.speaker);
  host.append(el.live);
  host.classList.add("tl", "tl-mounted");
  return el;
};

export const tool = (words, title, act, pressed) => make("button", { type: "button", class: "tl-button", title, "aria-label": title, "aria-pressed": pressed, onclick: act }, words);
