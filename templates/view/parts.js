"use strict";
// Parts that several views have: states, commands, tables.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

const setState = (id, text, failed = false) => {
  const state = document.querySelector(`[data-state="${id}"]`);
  state.textContent = text;
  state.classList.toggle("failed", failed);
  if (failed) announce(text);
};

const showCommand = (id, command) => {
  const label = element("span", {}, "Copy");
  const copy = element("button", { type: "button", class: "copy", title: "Copy the command" }, label);
  document.querySelector(`[data-command="${id}"]`).replaceChildren(element("div", { class: "command" }, element("code", {}, command), copy));
};

// Numbers as they are, with separators; kernels in their readable form with the full name as a title.
const asTable = (result) => {
  const isNumber = result.columns.map((_, at) => result.rows.every((row) => row[at] === null || typeof row[at] === "number"));
  const head = result.columns.map((column, at) => {
    const unit = column.unit && !["text", "id", "count"].includes(column.unit) ? ` (${column.unit})` : "";
    return element("th", { scope: "col", title: column.doc, class: isNumber[at] ? "number" : null }, column.name + unit);
  });
  const cell = (value, at) => {
    const short = typeof value === "string" ? result.names[value] : undefined;
    const shown = value === null ? "" : typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 3 }) : String(short ?? value);
    return element("td", { class: isNumber[at] ? "number" : null, title: short ? value : null }, shown);
  };
  const body = result.rows.map((row) => element("tr", {}, ...row.map(cell)));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
  const more = result.total_rows > result.rows.length ? `The first ${result.rows.length} of ${result.total_rows} rows.` : `${result.total_rows} ${result.total_rows === 1 ? "row" : "rows"}.`;
  const cut = result.cut ? ` ${result.cut === 1 ? "1 text is" : `${result.cut} texts are`} cut: the row is too long.` : "";
  return [element("div", { class: "table-scroll", tabindex: "0" }, table), element("p", { class: "small" }, more + cut)];
};

// The server draws charts; they hold no scripts, and the policy of this page would stop them.
const asChart = (markup) => {
  const holder = element("div", { class: "block chart-block" });
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  holder.append(...parsed.body.childNodes);
  return holder;
};
