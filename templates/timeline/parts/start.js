// Pages name the element of their picture: <div data-timeline="ID"> above <script type="application/json" id="ID">.
import { mount } from "./mount.js";

globalThis.wavesieveTimeline = { mount };

for (const host of document.querySelectorAll("[data-timeline]")) {
  const source = document.getElementById(host.dataset.timeline);
  if (!source) continue;
  try {
    host.timeline = mount(host, JSON.parse(source.textContent));
  } catch (error) {
    // The static picture stays.
    host.classList.remove("tl-mounted");
    console.error("time line:", error);
  }
}
