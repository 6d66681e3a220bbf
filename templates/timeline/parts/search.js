// Search by regular expression over the names of the sheet.
import { busyOf, eventsOf, nameOf } from "./decode.js";
import { listen } from "./dom.js";
import { tool } from "./frame.js";
import { max } from "./numbers.js";
import { grouped, plural } from "./text.js";
import { duration } from "./time.js";

const LONGEST = 4000;

// Flags by list of names, and the slices that match in the order of start.
export const find = (tl, text) => {
  if (!text) return { search: null, error: "" };
  let pattern;
  try {
    pattern = new RegExp(text, "i");
  } catch (first) {
    return { search: null, error: `Not a regular expression: ${String(first.message).replace(/^Invalid regular expression: /, "").slice(0, 120)}` };
  }
  const sets = new Map();
  const matches = [];
  let events = 0;
  let total = 0;
  for (const section of tl.sheet.sections) {
    if (!sets.has(section.names)) sets.set(section.names, Uint8Array.from(section.names, (name) => (pattern.test(name.slice(0, LONGEST)) ? 1 : 0)));
    const set = sets.get(section.names);
    for (const lane of section.tracks) {
      for (let slice = 0; slice < lane.count; slice += 1) {
        if (!set[lane.name[slice]]) continue;
        matches.push({ lane, slice });
        events += eventsOf(lane, slice);
        total += busyOf(lane, slice);
      }
    }
  }
  const at = ({ lane, slice }) => lane.start[slice] - lane.section.shift;
  matches.sort((a, b) => at(a) - at(b));
  return { search: { text, sets, matches, events, total, current: -1 }, error: "" };
};

export const useSearch = (tl) => {
  const { searchInput, searchCount } = tl.el;
  let timer = 0;
  tl.el.matches.append(tool("‹", "Previous match (p)", () => tl.step(-1)), " ", tool("›", "Next match (n)", () => tl.step(1)));
  const write = (error) => {
    const { search } = tl;
    const where = tl.sheet.request ? "in what is loaded" : "in this window";
    const at = search?.current >= 0 ? `; ${grouped(search.current + 1)} of ${grouped(search.matches.length)}` : "";
    searchCount.textContent = error || (search ? `${plural(search.events, "match").replace("matchs", "matches")}, ${duration(search.total)} ${where}${at}` : "");
    tl.el.matches.hidden = !search?.matches.length;
    searchCount.classList.toggle("tl-error", Boolean(error));
  };
  tl.searchAgain = () => {
    const { search, error } = find(tl, searchInput.value);
    tl.search = search;
    write(error);
    tl.draw();
  };
  listen(searchInput, "input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      tl.searchAgain();
      tl.announce(searchCount.textContent);
    }, 120);
  });
  listen(searchInput, "keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (tl.search?.text !== searchInput.value) tl.searchAgain();
      tl.step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      searchInput.value = "";
      tl.searchAgain();
      tl.el.canvas.focus({ preventScroll: true });
    }
  });

  // The next match; without a search, the next place of a finding.
  tl.step = (direction) => {
    const { search } = tl;
    if (!search) return tl.stepPlace(direction);
    if (!search.matches.length) return tl.announce("No match");
    const count = search.matches.length;
    if (search.current < 0) {
      const from = search.matches.findIndex(({ lane, slice }) => lane.end[slice] - lane.section.shift >= tl.range.start);
      search.current = direction > 0 ? max(0, from) : (from < 0 ? count : from) - 1;
      search.current = (search.current + count) % count;
    } else search.current = (search.current + direction + count) % count;
    const hit = search.matches[search.current];
    tl.focus = hit;
    write("");
    tl.reveal(hit);
    tl.announce(`Match ${grouped(search.current + 1)} of ${grouped(count)}: ${nameOf(hit.lane, hit.slice).slice(0, 120)}, ${duration(hit.lane.end[hit.slice] - hit.lane.start[hit.slice])}`);
    tl.settle(false);
  };
};
