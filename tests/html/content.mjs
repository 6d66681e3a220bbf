// Rules that hold for every page: it loads nothing, runs nothing foreign, is well formed, shows all numbers, and can be used by everybody.
import { readFileSync } from "node:fs";
import { axeSource, open } from "./browser.mjs";

// Runs in the page: what its own JSON says and the page does not show.
const notShown = () => {
  const document_ = JSON.parse(document.getElementById("wavesieve-document").textContent);
  const missing = [];
  // Names of more than 400 characters are cut for good in tables, and listed in full. Readable names have the full one as title.
  const listed = [...document.querySelectorAll("ol.names li")].map((name) => name.lastChild.textContent.trim());
  const isShown = (text, shown) => {
    const [begin, end, more] = shown.split("…");
    const isCut = text.length > 400 && shown.length <= 401 && begin && end && more === undefined;
    return shown === text || (isCut && text.startsWith(begin) && text.endsWith(end) && listed.includes(text));
  };
  let values = 0;
  const look = (block, columns, rows, where) => {
    const shown = [...block.querySelectorAll("tbody tr")];
    if (shown.length !== rows.length) missing.push(`${where}: ${shown.length} of ${rows.length} rows`);
    rows.forEach((row, place) => {
      columns.forEach((column, index) => {
        const cell = shown[place]?.cells[index];
        const value = row[column.name];
        values += 1;
        if (!cell) missing.push(`${where}: no cell`);
        else if (value === null) {
          if (!cell.classList.contains("missing")) missing.push(`${where}: ${column.name} is missing, shown as ${cell.textContent}`);
        } else if (typeof value === "number") {
          if (Number(cell.dataset.v) !== value) missing.push(`${where}: ${column.name} ${value} is shown as ${cell.dataset.v}`);
        } else if (!/[^\x20-\x7e]/.test(String(value)) && !isShown(String(value), cell.title || cell.textContent)) {
          missing.push(`${where}: ${column.name} ${value} is shown as ${cell.textContent}`);
        }
      });
    });
  };
  for (const section of document_.sections) {
    for (const table of section.tables) {
      const block = document.getElementById(`table/${table.id}`);
      if (!block) missing.push(`no table ${table.id}`);
      else look(block, table.columns, table.rows.map((row) => row.values), table.id);
    }
  }
  const cards = [...document.querySelectorAll("details.finding")];
  if (cards.length !== document_.findings.length) missing.push("findings");
  document_.findings.forEach((finding, place) => {
    const blocks = [...(cards[place]?.querySelectorAll(".table-block") ?? [])];
    finding.evidence.forEach((evidence, index) => {
      if (blocks[index]) look(blocks[index], evidence.columns, evidence.rows, `finding ${finding.id}`);
      else missing.push(`no evidence of ${finding.id}`);
    });
    // A command of an earlier finding, perhaps for another kernel, is stated there; the card refers to that finding.
    const apart = (line) => line.replace(/(--kernel-include-regex|--kernel|--name) ('[^']*'|\S+)/g, "$1");
    const earlier = (line) => document_.findings.findIndex((other) => other.commands.some((command) => apart(command.line) === apart(line)));
    for (const command of finding.commands) {
      const first = earlier(command.line);
      if (first < place && cards[place]?.textContent.includes(`of finding ${first + 1} appl`)) continue;
      const lines = [...(cards[place]?.querySelectorAll(".command code") ?? [])].map((code) => code.textContent);
      if (/^[\x20-\x7e]*$/.test(command.line) && !lines.includes(command.line)) missing.push(`no command ${command.line}`);
    }
  });
  for (const figure of document_.figures) {
    const element = document.querySelector(`[data-figure="${figure.id}"]`);
    const value = element?.dataset.v ?? element?.querySelector("[data-v]")?.dataset.v;
    if (!figure.id.endsWith("_findings") && Number(value) !== figure.value) missing.push(`figure ${figure.id}`);
  }
  return { missing, values, schema: document_.schema };
};

const structure = () => {
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((heading) => Number(heading.tagName[1]));
  const picture = document.getElementById("wavesieve-timeline");
  const places = new Set((picture ? JSON.parse(picture.textContent).places : []).map((place) => place.id));
  const links = [...document.querySelectorAll('a[href^="#"]')].map((link) => decodeURIComponent(link.hash.slice(1)));
  return {
    doubled: ids.filter((id, place) => ids.indexOf(id) !== place),
    odd: ids.filter((id) => /[\s"'<>&]/.test(id)),
    titles: levels.filter((level) => level === 1).length,
    jumps: levels.filter((level, place) => place > 0 && level > levels[place - 1] + 1).length,
    // A link to the time line names a finding that it has a place of.
    dead: links.filter((id) => !document.getElementById(id) && !(id.startsWith("f=") && places.has(id.slice(2)))),
    outside: [...document.querySelectorAll("[src], [href]")]
      .map((element) => element.getAttribute("src") ?? element.getAttribute("href"))
      .filter((address) => !address.startsWith("#") && !address.startsWith("data:")),
    handlers: [...document.querySelectorAll("*")].filter((element) => element.getAttributeNames().some((name) => name.startsWith("on"))).length,
    scripts: document.scripts.length,
  };
};

export const checkContent = async (browser, file, check) => {
  const text = readFileSync(file, "utf8");
  check("is at most 5 MB", text.length <= 5_000_000, text.length);
  check("has no control characters", !/[\x00-\x08\x0b-\x1f\x7f]/.test(text));
  for (const scheme of ["light", "dark"]) {
    const { page, watched, close } = await open(browser, file, { colorScheme: scheme });
    await page.addScriptTag({ content: "" }).catch(() => {});
    watched.complaints = watched.complaints.filter((text) => !text.includes("inline script"));
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
    if (scheme === "light") {
      const shown = await page.evaluate(notShown);
      check("shows everything its JSON says", shown.missing.length === 0, shown.missing.slice(0, 5));
      check("has values", shown.values > 20 && shown.schema === "wavesieve-document", shown.values);
      const found = await page.evaluate(structure);
      for (const fault of ["doubled", "odd", "dead", "outside"]) check(`ids and links: ${fault}`, found[fault].length === 0, found[fault].slice(0, 5));
      check("has one title and no level of headings left out", found.titles === 1 && found.jumps === 0, found);
      check("has no inline handlers and its own scripts only", found.handlers === 0 && found.scripts === 4, found);
      check("cannot be harmed by names", await page.evaluate(() => window.harmed === undefined && document.baseURI === location.href.split("#")[0]));
    }
    await page.evaluate(readFileSync(axeSource, "utf8"));
    // The dark page differs only in colours.
    const rules = scheme === "dark" ? { runOnly: ["color-contrast"] } : {};
    const report = await page.evaluate((rules) => axe.run(document, { resultTypes: ["violations"], ...rules }), rules);
    const grave = report.violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
    check(`has no grave faults of accessibility, ${scheme}`, grave.length === 0, grave.map((fault) => [fault.id, fault.nodes.length, fault.nodes[0].html.slice(0, 120), fault.nodes[0].failureSummary.slice(0, 200)]));
    for (const width of scheme === "light" ? [360, 900] : []) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`fits ${width} pixels`, wide <= width, wide);
    }
    check(`has no complaints, ${scheme}`, watched.complaints.length === 0, watched.complaints.slice(0, 3));
    check(`asks for nothing but itself, ${scheme}`, watched.requests.length === 1, watched.requests);
    await close();
  }
};
