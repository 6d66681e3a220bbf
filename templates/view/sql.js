"use strict";
(() => {
  const text = document.getElementById("sql-text");
  const list = document.getElementById("sql-words");
  let begun = "";
  let asked = 0;
  let started = 0;
  const stop = document.getElementById("sql-stop");

  const close = () => { list.hidden = true; };
  const items = () => [...list.children];
  const selected = () => Math.max(0, items().findIndex((item) => item.getAttribute("aria-selected") === "true"));
  const select = (at) => {
    const all = items();
    all.forEach((item, place) => item.setAttribute("aria-selected", String(place === (at + all.length) % all.length)));
    all[selected()]?.scrollIntoView({ block: "nearest" });
  };
  const insert = (word) => {
    const at = text.selectionStart;
    text.setRangeText(word, at - begun.length, at, "end");
    close();
    text.focus();
  };
  const complete = async () => {
    const number = ++asked;
    const answer = await view.get("complete", { prefix: text.value.slice(0, text.selectionStart).slice(-4000) }).catch(() => null);
    if (!answer || number !== asked) return;
    begun = answer.begun;
    const item = (word) => element("li", { role: "option", onmousedown: (event) => { event.preventDefault(); insert(word.text); } }, element("code", {}, word.text), element("span", {}, word.about || word.kind));
    list.replaceChildren(...answer.words.map(item));
    list.hidden = !answer.words.length;
    if (!list.hidden) select(0);
  };
  const run = async () => {
    setState("sql", "Running …");
    close();
    started += 1;
    const own = started;
    stop.hidden = false;
    try {
      const result = await view.post("sql", { sql: text.value, window: view.name() });
      if (own !== started) return;
      document.getElementById("sql-result").replaceChildren(...asTable(result));
      showCommand("sql", result.command);
      setState("sql", "");
    } catch (error) {
      if (own === started) setState("sql", error.message, true);
    }
    if (own === started) stop.hidden = true;
  };
  stop.addEventListener("click", () => view.post(`stop?window=${view.name()}`).catch((error) => setState("sql", error.message, true)));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); return; }
    if (event.key === " " && event.ctrlKey) { event.preventDefault(); complete(); return; }
    if (list.hidden) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") select(selected() + 1);
    else if (event.key === "ArrowUp") select(selected() - 1);
    else if (event.key === "Enter" || event.key === "Tab") insert(items()[selected()].querySelector("code").textContent);
    else return;
    event.preventDefault();
  });
  text.addEventListener("input", () => { if (list.hidden) return; complete(); });
  text.addEventListener("blur", close);
  document.getElementById("sql-form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
})();
