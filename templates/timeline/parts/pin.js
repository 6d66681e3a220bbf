// A pinned slice: numbers of its name in the sheet, and commands.
import { aboutOf, eventsOf, nameOf, partnersOf } from "./decode.js";
import { button, make, small } from "./dom.js";
import { ceil, floor, max } from "./numbers.js";
import { describe } from "./pointer.js";
import { cut, grouped, kernelCommand, percent, visible } from "./text.js";
import { duration, exactly } from "./time.js";

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
  const half = (lengths.length - 1) / 2;
  return { count, total, isSum, min: lengths[0], max: lengths.at(-1), median: (lengths[floor(half)] + lengths[ceil(half)]) / 2 };
};

const copyButton = (tl, line, words = "Copy") => {
  const own = button("button", async () => {
    const done = await tl.copy(line);
    if (!done) getSelection().selectAllChildren(own.previousElementSibling);
    own.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { own.textContent = words; }, 1600);
  }, words);
  return own;
};

const facts = (rows) => make("dl.facts", ...rows.map(([name, value]) => make("div", make("dt", name), make("dd", value))));

export const usePin = (tl) => {
  const panel = tl.el.pinPanel;
  tl.copy = async (words) => {
    let done = false;
    try {
      // The page has a way that works for files, too.
      done = typeof copyText === "function" ? await copyText(words) : (await navigator.clipboard.writeText(words), true);
    } catch {
      // Browsers may forbid it.
    }
    tl.announce(done ? "Copied" : "Press Ctrl+C");
    return done;
  };
  tl.setPin = (hit) => {
    tl.pin = hit;
    panel.hidden = !hit;
    panel.replaceChildren();
    tl.draw();
    if (!hit) return;
    const { lane, slice } = hit;
    const section = lane.section;
    const name = nameOf(lane, slice);
    const numbers = statistics(section, lane.kind, lane.name[slice]);
    const length = max(1, section.end - section.start);
    const text = (value) => (value >= 0 ? duration(value) : "–");
    panel.append(
      make("div.panel-head", make("h3.name", { tabindex: "-1" }, cut(name, 12000)), copyButton(tl, name, "Copy name"), button("button", () => { tl.setPin(null); tl.settle(false); tl.el.canvas.focus({ preventScroll: true }); }, "Close")),
      facts(describe(tl, hit)[1][1]),
      make("p.strong", tl.sheet.request ? "All with this name in what is loaded" : `All with this name in ${section.label}`),
      facts([["Count", grouped(numbers.count)], ["Total", exactly(numbers.total)], ["Share of the window", percent(numbers.total / length)], ["Median", text(numbers.median)], ["Minimum", text(numbers.min)], ["Maximum", text(numbers.max)]]),
    );
    if (numbers.isSum) panel.append(small("Some slices sum up several events; minimum, median and maximum are those of the others."));
    const partners = partnersOf(section, lane, slice);
    if (partners.length) {
      const list = small(lane.kind === "kernels" || lane.kind === "copies" ? "Launched by " : "Launches ");
      for (const [other, place] of partners.slice(0, 5)) {
        const there = { lane: section.tracks[other], slice: place, section };
        if (!there.lane || place >= there.lane.count) continue;
        list.append(button("link", () => { tl.setPin(there); tl.reveal(there); tl.settle(false); }, cut(nameOf(there.lane, place), 80)), " ");
      }
      if (partners.length > 5) list.append(`and ${partners.length - 5} more`);
      panel.append(list);
    }
    for (const query of lane.kind === "kernels" ? ["kernel_summary", "kernel_pace", "slow_dispatches"] : []) {
      const line = kernelCommand(query, tl.input(lane.group), section.names[lane.name[slice]] ?? "");
      if (!line) break;
      panel.append(make("div.command", make("code", line), copyButton(tl, line)));
    }
    tl.announce(`Pinned ${cut(name, 120)}, ${duration(lane.end[slice] - lane.start[slice])}${aboutOf(lane, slice) ? `, ${cut(aboutOf(lane, slice), 80)}` : ""}`);
  };
};
