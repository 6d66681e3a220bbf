"use strict";
let findingWords = [];

// Shows the findings of the chosen priorities that have all the words; how many these are.
const filterFindings = (words = findingWords) => {
  findingWords = words;
  const chosen = new Set([...document.querySelectorAll(".toggle[aria-pressed=true]")].map((toggle) => toggle.dataset.priority));
  const findings = [...document.querySelectorAll("details.finding")];
  let shown = 0;
  for (const finding of findings) {
    const text = finding.textContent.toLowerCase();
    finding.hidden = !chosen.has(finding.dataset.priority) || !words.every((word) => text.includes(word));
    if (!finding.hidden) shown += 1;
  }
  const none = document.querySelector("#findings > .none");
  if (none) none.hidden = shown > 0;
  return shown;
};

(() => {
  const section = document.getElementById("findings");
  section?.addEventListener("click", (event) => {
    const toggle = event.target.closest(".toggle");
    if (toggle) {
      toggle.setAttribute("aria-pressed", String(toggle.getAttribute("aria-pressed") !== "true"));
      const shown = filterFindings();
      announce(shown === 1 ? "1 finding" : `${shown} findings`);
    }
    const all = event.target.closest("[data-details]");
    if (all) {
      for (const finding of section.querySelectorAll("details.finding")) finding.open = all.dataset.details === "open";
      announce(all.dataset.details === "open" ? "All findings expanded" : "All findings collapsed");
    }
  });
})();
