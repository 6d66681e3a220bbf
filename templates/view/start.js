"use strict";
const tabs = (() => {
  const all = [...document.querySelectorAll('[role="tab"]')];
  const open = (id, finding) => {
    for (const tab of all) {
      const isOpen = tab.getAttribute("aria-controls") === id;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isOpen;
    }
    if (id === "findings" || id === "compare") documents.show(id, Boolean(finding));
    if (id === "queries") queries.load();
    const card = finding && document.getElementById(`finding-${finding}`);
    if (card) { card.open = true; card.scrollIntoView(); }
  };
  all.forEach((tab, at) => {
    tab.addEventListener("click", () => open(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all[(at + step + all.length) % all.length];
      open(next.getAttribute("aria-controls"));
      next.focus();
    });
  });
  return { open };
})();

(() => {
  const theme = document.getElementById("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-pressed", String(isDark())); };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("wavesieve-theme", root.dataset.theme);
    } catch {
      // The choice lasts as long as the page.
    }
    show();
  });
  show();
})();

timeline.refresh();
