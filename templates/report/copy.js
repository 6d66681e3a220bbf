"use strict";
const announce = (text) => {
  const announcer = document.getElementById("announcer");
  announcer.textContent = "";
  // A text that is the same as before would not be read again.
  requestAnimationFrame(() => { announcer.textContent = text; });
};

const copyText = async (text) => {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Permission may be denied; the older way often is not.
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "unseen";
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    done = false;
  }
  area.remove();
  if (focused) focused.focus({ preventScroll: true });
  return done;
};

(() => {
  const clean = (text) => text.replace(/[\t\n\r]+/g, " ").trim();
  const value = (cell) => cell.dataset.v ?? clean(cell.textContent);

  // Numbers as they are, not as they are shown; all rows of the page that no filter hides.
  const asTable = (block) => {
    const table = block.querySelector("table");
    const header = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.name);
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    return [header, ...rows.map((row) => [...row.cells].map(value))].map((row) => row.join("\t")).join("\n") + "\n";
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const isTable = button.dataset.copies === "table";
    const code = button.parentElement.querySelector("code");
    const done = await copyText(isTable ? asTable(button.closest(".block")) : code.textContent);
    if (!done && code) getSelection().selectAllChildren(code);
    const label = button.querySelector("span");
    label.textContent = done ? "Copied" : "Press Ctrl+C";
    button.classList.toggle("done", done);
    announce(done ? "Copied" : "The browser forbids copying; the text is selected, press Ctrl+C");
    clearTimeout(button.timer);
    button.timer = setTimeout(() => {
      label.textContent = "Copy";
      button.classList.remove("done");
    }, 1600);
  });

  document.getElementById("save-json")?.addEventListener("click", () => {
    const json = document.getElementById("wavesieve-document").textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
    link.download = "analysis.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
})();
