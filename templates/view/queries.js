"use strict";
const queries = (() => {
  let all = [];
  const name = document.getElementById("query-name");
  const options = document.getElementById("query-options");
  const chosen = () => all.find((query) => query.name === name.value.trim());

  const field = (label, key, value, words) => {
    const input = words?.length
      ? element("select", { name: key }, ...words.map((word) => element("option", { selected: word === value }, word)))
      : element("input", { name: key, value: value ?? "", placeholder: value ?? "" });
    return element("label", { title: label.doc }, label.text, input);
  };
  const showOptions = () => {
    const query = chosen();
    document.getElementById("query-about").textContent = query ? `${query.title}. ${query.about}` : "";
    if (!query) return options.replaceChildren();
    const fields = query.parameters.map((parameter) => field({ text: parameter.name, doc: parameter.doc }, `set.${parameter.name}`, parameter.default, parameter.words));
    if (query.dimensions.length) fields.unshift(field({ text: "by", doc: query.dimensions.join(", ") }, "by", query.by.join(",")));
    options.replaceChildren(...fields);
  };

  const run = async () => {
    const given = Object.fromEntries([...options.querySelectorAll("[name]")].map((input) => [input.name, input.value]));
    setState("queries", "Running …");
    try {
      const result = await view.get("query", { name: name.value.trim(), ...given });
      const parts = [element("h2", {}, result.title)];
      if (result.chart) parts.push(asChart(result.chart));
      parts.push(...(result.empty ? [element("p", { class: "note" }, `No rows: ${result.empty}`)] : asTable(result)));
      document.getElementById("query-result").replaceChildren(...parts);
      showCommand("queries", result.command);
      setState("queries", "");
    } catch (error) {
      setState("queries", error.message, true);
    }
  };

  const load = async () => {
    if (all.length) return;
    try {
      all = (await view.get("queries")).queries;
      const listed = all.filter((query) => query.has_rows);
      document.getElementById("query-names").replaceChildren(...listed.map((query) => element("option", { value: query.name }, query.title)));
    } catch (error) {
      setState("queries", error.message, true);
    }
  };
  name.addEventListener("input", showOptions);
  document.getElementById("query-form").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  return { load };
})();
