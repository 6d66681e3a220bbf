"use strict";
const timeline = (() => {
  const shown = new Map();

  const show = async (of) => {
    const target = document.getElementById(`timeline-${of}`);
    if (!target) return;
    const picture = await view.get("picture", of === "base" ? { of } : {});
    const known = shown.get(of);
    const stage = `${picture.complete} ${picture.placed}`;
    if (known?.stage === stage) return;
    const request = async ({ groups, start_ns, end_ns, pixels, path }) => {
      const range = { groups: [...groups].join(","), start_ns: Math.floor(start_ns), end_ns: Math.ceil(end_ns), pixels: Math.max(1, Math.round(pixels)), path: path ? 1 : undefined };
      const lanes = await view.get("lanes", of === "base" ? { ...range, of } : range);
      showCommand("timeline", lanes.command);
      document.getElementById(`notes-${of}`).replaceChildren(...(lanes.notes ?? []).map((note) => element("li", {}, note)));
      return lanes;
    };
    const open = (finding) => tabs.open("findings", finding);
    known?.mounted.destroy();
    target.replaceChildren();
    const mounted = wavesieveTimeline.mount(target, picture, { request, open, input: picture.input });
    shown.set(of, { stage, mounted });
    if (!known) showCommand("timeline", picture.command);
    if (of === "new" && picture.complete && picture.small) documents.show("findings", true);
    setState("timeline", picture.complete ? "" : "Computing the causes of idle time …");
  };

  const refresh = async () => {
    try {
      await show("new");
      await show("base");
    } catch (error) {
      setState("timeline", error.message, true);
    }
  };
  view.onNews(refresh);
  return { refresh, place: (id) => shown.get("new")?.mounted.show(id) };
})();
