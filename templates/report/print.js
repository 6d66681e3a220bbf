"use strict";
(() => {
  const root = document.documentElement;
  let before = null;
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    before = { closed, theme: root.dataset.theme };
    for (const details of closed) details.open = true;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    for (const details of before.closed) details.open = false;
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before = null;
  });
})();
