// Controls and words around the canvases.
import { button, make } from "./dom.js";
import { tool } from "./frame.js";
import { cut, plural, visible } from "./text.js";
import { duration } from "./time.js";

export const useBar = (tl) => {
  const { el, options, picture, sets } = tl;
  tl.togglePath = () => {
    tl.showPath = !tl.showPath;
    pathTool.setAttribute("aria-pressed", tl.showPath);
    tl.announce(tl.showPath ? "Critical path shown" : "Critical path hidden");
    tl.load(true);
    tl.draw();
  };
  tl.toggleHelp = () => { el.help.hidden = !el.help.hidden; };
  tl.escape = () => {
    if (!el.help.hidden) el.help.hidden = true;
    else if (tl.selection) {
      tl.selection = null;
      tl.measure();
    } else if (tl.pin) tl.setPin(null);
    else if (tl.place) tl.place = null;
    else tl.focus = null;
    tl.draw();
  };
  let isHinted = false;
  tl.hint = () => {
    // Once is enough for readers that scroll past.
    el.hint.hidden = isHinted;
    isHinted = true;
    setTimeout(() => { el.hint.hidden = true; }, 2000);
  };
  tl.drawLegend = () => {
    const used = new Map();
    const whole = new Map();
    for (const { kinds, tracks } of tl.sheet.sections) {
      const seen = new Set(tracks.flatMap((lane) => [...new Set(lane.color)]));
      kinds.forEach((kind, at) => { if (seen.has(at)) used.set(kind.id, kind.label); });
    }
    for (const lane of tl.strip.lanes) for (const [at] of lane.shares) whole.set(picture.kinds?.[at]?.id, picture.kinds?.[at]?.label);
    const item = ([id, words]) => {
      const entry = tl.palette.of(id);
      const sign = make(entry.hatched ? "i.hatched" : "i");
      sign.style.backgroundColor = entry.fill;
      return make("li", sign, visible(words));
    };
    const part = (title, kinds) => (kinds.size ? [make("li.strong", title), ...[...kinds].map(item)] : []);
    el.legend.replaceChildren(...part("Overview", whole), make("li.break"), ...part("Detail", used));
  };

  // Lanes that readers hide
  const all = button("link", () => tl.showLanes());
  el.foot.append(all);
  tl.countUnseen = () => {
    const count = tl.sheet.unseen.size;
    all.hidden = !count;
    all.textContent = `Show ${plural(count, "hidden lane")}`;
    tl.draw();
  };
  tl.hideLane = (lane) => {
    if (!lane) return;
    tl.sheet.unseen.add(lane.id);
    Object.assign(tl, { focus: null, hover: null });
    tl.announce(`${lane.label} hidden`);
    tl.countUnseen();
  };
  tl.showLanes = () => {
    tl.sheet.unseen.clear();
    tl.countUnseen();
  };

  const pathTool = tool("Critical path", "Critical path (c)", () => tl.togglePath(), "false");
  const used = (act) => () => {
    act();
    tl.settle(false);
  };
  // The part with GPU work, or the whole run.
  const { extent, whole } = tl.strip;
  const wholeTool = tool("Whole run", "Whole run in the overview", () => {
    const isWhole = tl.strip.extent === whole;
    tl.strip.extent = isWhole ? extent : whole;
    wholeTool.setAttribute("aria-pressed", !isWhole);
    tl.draw();
  }, "false");
  wholeTool.hidden = extent.start <= 0 && extent.end >= whole.end;
  const zoom = (sign, words, factor) => tool(sign, `Zoom ${words} (${sign})`, used(() => tl.zoom(factor, (tl.range.start + tl.range.end) / 2)));
  el.tools.append(pathTool, wholeTool, zoom("−", "out", 2), zoom("+", "in", 0.5), tool("Fit", "Fit all (0)", used(() => tl.fitAll())), tool("?", "Keys (?)", () => tl.toggleHelp()));
  sets.forEach((set, at) => {
    if (sets.length < 2 || options.request) return;
    el.tabs.append(make("button.tab", { "data-at": at, "aria-pressed": "false", title: cut(set.map((window) => visible(window.reason ?? "")).join(" "), 400), onclick: used(() => {
      tl.place = null;
      tl.openWindow(set[0].id);
    }) }, cut(set.map((window) => visible(window.label)).join(" / "), 80)));
  });
  const groupSelect = make("select.select", { "aria-label": "GPU", onchange: () => tl.openGroup(groupSelect.value, false) });
  if (options.request) {
    groupSelect.append(...(picture.groups ?? []).filter((group) => group.gpu !== null || tl.strip.lanes.length === 0).map((group) => make("option", { value: group.id }, cut(visible(group.label), 80))));
    el.tabs.append(groupSelect);
  }
  Object.assign(el, { pathTool, groupSelect });
  el.notes.append(...(picture.notes ?? []).map((words) => make("li", visible(words))));
  el.notes.hidden = !el.notes.children.length;
  el.overview.setAttribute("aria-label", `Overview of ${duration(picture.span_ns ?? 0)}: ${plural(tl.strip.lanes.length, "lane")}, ${plural(tl.strip.ticks.length, tl.strip.unit || "tick")}`);
};
