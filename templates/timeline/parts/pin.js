// A pinned slice: numbers of its name in the sheet, and commands.
import { aboutOf, eventsOf, nameOf, partnersOf } from "./decode.js";
import { button, listen, make, small } from "./dom.js";
import { max } from "./numbers.js";
import { describe } from "./pointer.js";
import { cut, grouped, kernelCommand, percent, visible } from "./text.js";
import { duration, exactly } from "./time.js";

const QUERIES = { kernels: ["kernel_summary", "kernel_pace", "slow_dispatches"] };

// Numbers of all slices of a name in lanes of one kind of a section.
export const statistics = (section, kind, name) => {
  const lengths = [];
  let count = 0;
  let total = 0;
  let isSum = false;
  for (const lane of section.tracks) {
    if (lane.kind !== kind) continue;
    for (let slice = 0; slice < lane.count; slice += 1) {
      if (lane.name[slice] !== name) continue;
      const events = eventsOf(lane, slice);
      const length = lane.end[slice] - lane.start[slice];
      count += events;
      total += lane.busy?.[slice] ?? length;
      if (events > 1) isSum = true;
      else lengths.push(length);
    }
  }
  lengths.sort((a, b) => a - b);
  const middle = lengths.length >> 1;
  const median = lengths.length === 0 ? null : lengths.length % 2 ? lengths[middle] : (lengths[middle - 1] + lengths[middle]) / 2;
  return { count, total, isSum, min: lengths[0] ?? null, max: lengths.at(-1) ?? null, median };
};

const copyButton = (tl, line) => {
  const button = make("button", { type: "button", class: "tl-button" }, "Copy");
  listen(button, "click", async () => {
    let done = false;
    try {
      // The page has a way that works for files, too.
      done = typeof copyText === "function" ? await copyText(line) : (await navigator.clipboard.writeText(line), true);
    } catch {
      done = false;
    }
    if (!done) getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    tl.announce(button.textContent);
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  return button;
};

const facts = (rows) => make("dl", { class: "tl-facts" }, ...rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));

export const usePin = (tl) => {
  const panel = tl.el.pinPanel;
  tl.setPin = (hit) => {
    tl.pin = hit;
    panel.hidden = !hit;
    panel.replaceChildren();
    tl.draw();
    if (!hit) return;
    const { lane, slice } = hit;
    const section = lane.section;
    const name = visible(nameOf(lane, slice));
    const numbers = statistics(section, lane.kind, lane.name[slice]);
    const length = max(1, section.end - section.start);
    const text = (value) => (value === null ? "–" : duration(value));
    panel.append(
      make("div", { class: "tl-panel-head" }, make("h3", { class: "tl-name", tabindex: "-1" }, cut(name, 12000)), button("tl-button", () => { tl.setPin(null); tl.settle(false); tl.el.canvas.focus({ preventScroll: true }); }, "Close")),
      facts(describe(tl, hit)[1][1]),
      make("p", { class: "tl-strong" }, tl.sheet.request ? "All with this name in what is loaded" : `All with this name in ${section.label}`),
      facts([["Count", grouped(numbers.count)], ["Total", exactly(numbers.total)], ["Share of the window", percent(numbers.total / length)], ["Median", text(numbers.median)], ["Minimum", text(numbers.min)], ["Maximum", text(numbers.max)]]),
    );
    if (numbers.isSum) panel.append(small("Some slices sum up several events; minimum, median and maximum are those of the others."));
    const partners = partnersOf(section, lane, slice);
    if (partners.length) {
      const list = small(lane.kind === "kernels" || lane.kind === "copies" ? "Launched by " : "Launches ");
      for (const [other, place] of partners.slice(0, 5)) {
        const there = { lane: section.tracks[other], slice: place, section };
        if (!there.lane || place >= there.lane.count) continue;
        list.append(button("tl-link", () => { tl.setPin(there); tl.reveal(there); tl.settle(false); }, cut(nameOf(there.lane, place), 80)), " ");
      }
      if (partners.length > 5) list.append(`and ${partners.length - 5} more`);
      panel.append(list);
    }
    const raw = section.names[lane.name[slice]] ?? "";
    for (const query of QUERIES[lane.kind] ?? []) {
      const line = kernelCommand(query, tl.input(lane.group), raw);
      if (!line) break;
      panel.append(make("div", { class: "tl-command" }, make("code", {}, line), copyButton(tl, line)));
    }
    tl.announce(`Pinned ${cut(name, 120)}, ${duration(lane.end[slice] - lane.start[slice])}${aboutOf(lane, slice) ? `, ${cut(aboutOf(lane, slice), 80)}` : ""}`);
  };
};
