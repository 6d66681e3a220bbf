"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("wavesieve-theme", root.dataset.theme);
    } catch {
      // It lasts as long as the page.
    }
    tell();
    announce(isDark() ? "Dark colours" : "Light colours");
  });
  system.addEventListener("change", tell);
  tell();

  // The table of contents marks the section that is read.
  const contents = document.querySelector(".contents");
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const toTop = document.querySelector(".to-top");
  let current = null;
  let isWaiting = false;
  const mark = () => {
    isWaiting = false;
    toTop.hidden = scrollY < 600;
    const line = innerHeight * 0.3;
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= root.scrollHeight - 2;
    const passed = sections.filter((section) => section.offsetParent !== null && section.getBoundingClientRect().top <= line);
    const section = isAtEnd ? sections.at(-1) : (passed.at(-1) ?? sections[0]);
    const link = links.get(section?.id);
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "true");
    current = link;
    // Only the contents scroll, not the page.
    if (link && contents.scrollWidth > contents.clientWidth) {
      contents.scrollTo({ left: link.offsetLeft - contents.clientWidth / 2 + link.offsetWidth / 2 });
    } else if (link && contents.scrollHeight > contents.clientHeight) {
      contents.scrollTo({ top: link.offsetTop - contents.clientHeight / 2 });
    }
  };
  const later = () => {
    if (!isWaiting) requestAnimationFrame(mark);
    isWaiting = true;
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later, { passive: true });
  mark();
})();
