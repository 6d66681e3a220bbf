"use strict";
(() => {
  const tip = document.getElementById("tip");
  let owner = null;
  let timer = 0;

  const textOf = (element) => element.dataset.tip ?? (isCut(element) ? element.textContent : null);

  // Whether a long name is folded and its end is not seen.
  const isCut = (element) => {
    const head = element.querySelector("span");
    return element.getAttribute("aria-expanded") === "false" && head && head.scrollWidth > head.clientWidth;
  };

  const hide = () => {
    clearTimeout(timer);
    owner?.removeAttribute("aria-describedby");
    owner = null;
    tip.hidden = true;
  };

  const show = (element) => {
    const text = textOf(element);
    if (!text) return;
    clearTimeout(timer);
    if (owner !== element) owner?.removeAttribute("aria-describedby");
    owner = element;
    tip.textContent = text;
    tip.hidden = false;
    element.setAttribute("aria-describedby", "tip");
    const around = element.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const below = around.bottom + 6;
    const top = below + size.height > innerHeight - 8 ? Math.max(8, around.top - size.height - 6) : below;
    tip.style.left = `${Math.max(8, Math.min(around.left, innerWidth - size.width - 8))}px`;
    tip.style.top = `${top}px`;
  };

  const described = (event) => event.target.closest?.("[data-tip], button.name");
  document.addEventListener("pointerover", (event) => {
    if (event.target.closest?.("#tip")) return clearTimeout(timer);
    const element = described(event);
    if (element && event.pointerType !== "touch") show(element);
  });
  // The pointer may move onto the tooltip, to read or select it.
  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, 150);
  };
  document.addEventListener("pointerout", (event) => {
    if (event.target.closest?.("#tip") || (owner && owner.contains(event.target) && document.activeElement !== owner)) leave();
  });
  document.addEventListener("focusin", (event) => {
    const element = described(event);
    if (element) show(element);
    else hide();
  });
  document.addEventListener("focusout", leave);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  addEventListener("scroll", () => { if (owner !== document.activeElement) hide(); else if (owner) show(owner); }, { passive: true, capture: true });
})();
