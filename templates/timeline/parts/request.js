// Lanes from a server: asked for when the range leaves what is loaded, or is finer than it. The last answer wins.
import { sectionOf } from "./decode.js";
import { ceil, max, min, round } from "./numbers.js";

const WAIT_MS = 60;

export const useRequests = (tl) => {
  const { request } = tl.options;
  let timer = 0;
  let number = 0;
  let asked = null;
  let since = 0;

  // Whether an answer is enough for a range: it covers it, and has a resolution of a pixel.
  const keyOf = () => `${[...tl.sheet.chosen]}${tl.showPath}`;
  const covers = (have, range, pixels) => have && have.key === keyOf() && have.start <= max(tl.limits.start, range.start) && have.end >= min(tl.limits.end, range.end)
    && (have.end - have.start) / have.pixels <= max(1, ((range.end - range.start) / pixels) * 1.01);

  const loaded = () => {
    tl.isLoading = false;
    tl.host.classList.remove("tl-loading");
  };
  const ask = async () => {
    timer = 0;
    const pixels = max(100, round((tl.view?.width ?? 1000) - (tl.view?.left ?? 0)) * min(2, ceil(devicePixelRatio || 1)));
    if (covers(asked, tl.range, pixels)) return;
    const length = tl.range.end - tl.range.start;
    const start = max(tl.limits.start, tl.range.start - ceil(length / 2));
    const end = min(tl.limits.end, tl.range.end + ceil(length / 2));
    const wanted = { start, end, pixels: ceil((pixels * (end - start)) / length), key: keyOf() };
    number += 1;
    const own = number;
    asked = wanted;
    tl.isLoading = true;
    tl.host.classList.add("tl-loading");
    tl.status("");
    try {
      const answer = await request({ groups: tl.requestGroups(), start_ns: start, end_ns: end, pixels: wanted.pixels, path: tl.showPath });
      if (own !== number) return;
      loaded();
      tl.take(answer);
    } catch (error) {
      if (own !== number) return;
      loaded();
      asked = null;
      tl.status(`The detail cannot be loaded: ${error?.message ?? error}`, () => ask());
      tl.draw();
    }
  };
  tl.load = (now) => {
    if (!request || !tl.sheet.request) return;
    // While a range keeps moving, it is asked for now and then.
    const clock = performance.now();
    if (!timer) since = clock;
    else if (clock - since > 4 * WAIT_MS) return;
    clearTimeout(timer);
    timer = setTimeout(ask, now ? 0 : WAIT_MS);
  };
  tl.closers.push(() => { clearTimeout(timer); number += 1; });
};

export const sectionOfAnswer = (answer, label) => sectionOf({ ...answer, id: "", label, group: "" }, answer.names ?? [], answer.kinds ?? [], 0);
