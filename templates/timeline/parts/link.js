// The address holds the shown range, window, place and slice: #t=START-END&g=GROUP&w=WINDOW&f=FINDING&s=LANE:ID
import { listen } from "./dom.js";
export const readAddress = (hash) => {
  const text = hash.replace(/^#/, "");
  if (!/^[tgwfs]=/.test(text)) return null;
  const state = {};
  for (const part of text.split("&")) {
    const [, key, value] = /^([tgwfs])=(.*)$/.exec(part) ?? [];
    if (!key) continue;
    try {
      state[key] = decodeURIComponent(value);
    } catch {
      state[key] = value;
    }
  }
  const [, start, end] = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(state.t ?? "") ?? [];
  state.range = start !== undefined && Number(end) > Number(start) ? { start: Number(start), end: Number(end) } : null;
  const colon = (state.s ?? "").lastIndexOf(":");
  state.slice = colon > 0 ? { lane: state.s.slice(0, colon), id: Number(state.s.slice(colon + 1)) } : null;
  return state;
};

// Letters that an address may hold as they are stay readable.
const safe = (text) => encodeURIComponent(text).replace(/%(2F|3A|2C|40)/g, decodeURIComponent);

export const addressOf = (tl) => {
  const parts = [`t=${tl.range.start}-${tl.range.end}`];
  if (tl.sheet.request) parts.push(`g=${safe([...tl.sheet.chosen].join(","))}`);
  else if (tl.sheet.sections[0]?.id) parts.push(`w=${safe(tl.sheet.sections[0].id)}`);
  if (tl.place) parts.push(`f=${safe(tl.place.id)}`);
  if (tl.pin && tl.pin.lane.ids[tl.pin.slice] >= 0) parts.push(`s=${safe(tl.pin.lane.id)}:${tl.pin.lane.ids[tl.pin.slice]}`);
  return `#${parts.join("&")}`;
};

export const useAddress = (tl) => {
  let timer = 0;
  let written = "";
  const apply = (scroll) => {
    const state = readAddress(location.hash);
    if (!state || location.hash === written) return false;
    tl.apply(state);
    if (scroll) tl.host.scrollIntoView();
    return true;
  };
  const onHash = () => tl.hasAddress && apply(true);
  // Browsers allow few changes of the address a second.
  tl.writeAddress = () => {
    if (!tl.hasAddress) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const next = addressOf(tl);
      if (next === location.hash) return;
      try {
        history.replaceState(history.state, "", next);
        written = location.hash;
      } catch {
        // Some browsers forbid it for files; the picture works without.
      }
    }, 250);
  };
  listen(window, "hashchange", onHash);
  tl.closers.push(() => { clearTimeout(timer); removeEventListener("hashchange", onHash); });
  return apply;
};
