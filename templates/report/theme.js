// Runs before the page is drawn. Storage may be forbidden for files; then a choice lasts as long as the page.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  try {
    const chosen = localStorage.getItem("wavesieve-theme");
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  } catch {
    // The colours of the system it is.
  }
})();
