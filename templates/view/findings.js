"use strict";
// Findings and comparisons: documents that the program computes in the background.
const documents = (() => {
  const states = { findings: "idle", compare: "idle" };
  const words = { running: "Being computed …", idle: "The analysis has not started." };

  const command = (line) => {
    const copy = element("button", { type: "button", class: "copy" }, element("span", {}, "Copy"));
    return element("div", { class: "command" }, element("code", {}, line), copy);
  };
  const finding = (found) => {
    const body = element("div", { class: "finding-body" }, element("p", {}, found.explanation ?? ""));
    if (found.advice?.length) body.append(element("ul", {}, ...found.advice.map((advice) => element("li", {}, advice))));
    for (const line of found.commands ?? []) body.append(element("p", { class: "small" }, line.description ?? ""), command(line.line));
    body.append(element("button", { type: "button", class: "quiet", onclick: () => { tabs.open("timeline"); timeline.place(found.id); } }, "Show on the time line"));
    const summary = element("summary", {}, element("span", { class: "priority" }, found.priority), element("h3", {}, found.title), element("span", { class: "small" }, found.category ?? ""));
    return element("details", { class: `finding ${found.priority}`, id: `finding-${found.id}` }, summary, body);
  };
  const table = (block) => {
    const columns = block.columns ?? [];
    const rows = (block.rows ?? []).map((row) => columns.map((column) => row.values[column.name] ?? null));
    return columns.length ? [element("h3", {}, block.title), ...asTable({ columns, rows, names: {}, total_rows: block.total_rows })] : [];
  };
  const sections = (document) => document.sections.flatMap((section) => [element("h2", {}, section.title), ...section.tables.flatMap(table)]);

  const show = async (id, start) => {
    const list = document.getElementById(`${id}-list`);
    if (!list || states[id] === "done") return;
    try {
      const answer = id === "findings" ? await view.get("findings", { start: start ? 1 : 0 }) : await view.get("compare");
      states[id] = answer.state;
      showCommand(id, answer.command);
      setState(id, answer.state === "failed" ? answer.reason : (words[answer.state] ?? ""), answer.state === "failed");
      document.getElementById("start-analysis").hidden = states.findings !== "idle";
      if (answer.state !== "done") return;
      const made = answer.document;
      const summary = [made.summary].flat().filter(Boolean).map((text) => element("p", { class: "summary" }, text));
      const found = (made.findings ?? []).map(finding);
      if (id === "findings" && !found.length) found.push(element("p", {}, "No findings."));
      const heading = id === "findings" ? [element("h2", { class: "unseen" }, "Findings")] : [];
      list.replaceChildren(...summary, ...heading, ...found, ...(id === "compare" ? sections(made) : []));
    } catch (error) {
      setState(id, error.message, true);
    }
  };
  const news = () => ["findings", "compare"].filter((id) => states[id] === "running").forEach((id) => show(id, false));
  view.onNews(news);
  document.getElementById("start-analysis").addEventListener("click", () => show("findings", true));
  return { show };
})();
