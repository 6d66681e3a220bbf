"use strict";
// Findings and comparisons: documents that the program computes in the background.
const documents = (() => {
  const states = { findings: "idle", compare: "idle" };
  let names = {};
  const words = { running: "Being computed …", idle: "The analysis has not started." };

  const command = (line) => {
    const copy = element("button", { type: "button", class: "copy" }, element("span", {}, "Copy"));
    return element("div", { class: "command" }, element("code", {}, line), copy);
  };
  const table = (block, heading, valuesOf) => {
    const columns = block.columns ?? [];
    const rows = (block.rows ?? []).map((row) => columns.map((column) => valuesOf(row)[column.name] ?? null));
    return columns.length ? [element(heading, {}, block.title), ...asTable({ columns, rows, names, total_rows: block.total_rows })] : [];
  };
  const finding = (found) => {
    const body = element("div", { class: "finding-body" }, element("p", {}, found.explanation ?? ""));
    if (found.advice?.length) body.append(element("ul", {}, ...found.advice.map((advice) => element("li", {}, advice))));
    for (const evidence of found.evidence ?? []) body.append(...table(evidence, "h4", (row) => row));
    for (const line of found.commands ?? []) body.append(element("p", { class: "small" }, line.description ?? ""), command(line.line));
    body.append(element("button", { type: "button", class: "quiet", onclick: () => { tabs.open("timeline"); timeline.place(found.id); } }, "Show on the time line"));
    const summary = element("summary", {}, element("span", { class: "priority" }, found.priority), element("h3", {}, found.title), element("span", { class: "small" }, found.category ?? ""));
    return element("details", { class: `finding ${found.priority}`, id: `finding-${found.id}` }, summary, body);
  };
  const sections = (document) => document.sections.flatMap((section) => [element("h2", {}, section.title), ...section.tables.flatMap((block) => table(block, "h3", (row) => row.values))]);

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
      names = answer.names ?? {};
      const summary = [made.summary].flat().filter(Boolean).map((text) => element("p", { class: "summary" }, text));
      const found = (made.findings ?? []).map(finding);
      if (id === "findings" && !found.length) found.push(element("p", {}, "No findings."));
      const heading = id === "findings" ? [element("h2", { class: "unseen" }, "Findings")] : [];
      if (answer.timeline) showLine(answer.timeline);
      list.replaceChildren(...summary, ...heading, ...found, ...(id === "compare" ? sections(made) : []));
    } catch (error) {
      setState(id, error.message, true);
    }
  };
  // Typical units of both sides with joined kernels, as in the page of `compare`.
  const showLine = ({ picture, base, new: other }) => {
    const target = document.getElementById("compare-line");
    Object.assign(target.dataset, { base, new: other });
    wavesieveTimeline.mount(target, picture, { address: false });
  };
  const news = () => ["findings", "compare"].filter((id) => states[id] === "running").forEach((id) => show(id, false));
  view.onNews(news);
  document.getElementById("start-analysis").addEventListener("click", () => show("findings", true));
  return { show };
})();
