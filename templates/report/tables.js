"use strict";
(() => {
  // Rows that a table shows until it is asked for all.
  const FIRST_ROWS = 10;
  const collator = new Intl.Collator("en", { numeric: true });
  const all = document.getElementById("filter-all");

  const isNumber = (text) => text !== "" && !Number.isNaN(Number(text));

  // Whole numbers of more digits than a double holds are compared in full.
  const compareNumbers = (left, right) => {
    const difference = Number(left) - Number(right);
    if (difference !== 0 || left === right) return difference;
    const areWhole = /^-?\d+$/.test(left) && /^-?\d+$/.test(right);
    return areWhole ? (BigInt(left) < BigInt(right) ? -1 : 1) : 0;
  };

  class Table {
    constructor(block) {
      this.block = block;
      this.table = block.querySelector("table");
      this.body = this.table.tBodies[0];
      this.rows = [...this.body.rows];
      this.input = block.querySelector(".filter input");
      this.count = block.querySelector(".count");
      this.unfold = block.querySelector(".unfold");
      this.texts = null;
      this.canFold = this.rows.length > FIRST_ROWS + 2 && !("unfolded" in block.dataset);
      this.isFolded = this.canFold;
      this.title = block.querySelector("h3, h4").textContent;
      this.table.tHead.addEventListener("click", (event) => {
        const button = event.target.closest("button.sort");
        if (button) this.sort(button.parentElement);
      });
      this.input?.addEventListener("input", () => this.filter(true));
      this.input?.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && this.input.value) {
          this.input.value = "";
          this.filter(true);
          event.stopPropagation();
        }
      });
      this.unfold.addEventListener("click", () => {
        this.isFolded = !this.isFolded;
        this.show();
        if (this.isFolded) this.block.scrollIntoView({ block: "nearest" });
      });
      this.show();
    }

    sort(header) {
      const column = header.cellIndex;
      const cells = this.rows.map((row) => row.cells[column]);
      const values = cells.map((cell) => cell.dataset.v ?? (cell.classList.contains("missing") ? "" : cell.textContent.trim()));
      const areNumbers = values.every((value) => value === "" || isNumber(value));
      const first = areNumbers && header.classList.contains("n") ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const before = header.getAttribute("aria-sort");
      const order = before === first ? second : before === second ? null : first;
      for (const other of this.table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      const places = this.rows.map((_, place) => place);
      if (order) {
        header.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const compare = areNumbers ? compareNumbers : (left, right) => collator.compare(left, right);
        places.sort((left, right) => {
          const [a, b] = [values[left], values[right]];
          // Missing values come last in both directions; equal rows keep their order.
          if (a === "" || b === "") return (a === "") - (b === "") || left - right;
          return sign * compare(a, b) || left - right;
        });
      }
      this.body.append(...places.map((place) => this.rows[place]));
      const name = header.querySelector("span").textContent;
      announce(order ? `${this.title}: sorted by ${name}, ${order}` : `${this.title}: in the original order`);
    }

    words() {
      const text = `${this.input?.value ?? ""} ${all.value}`.toLowerCase();
      return text.split(/\s+/).filter((word) => word !== "");
    }

    // How many rows match, or null where no filter is set.
    filter(isSpoken) {
      const words = this.words();
      this.texts ??= this.rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
      let matches = 0;
      this.rows.forEach((row, place) => {
        row.hidden = !words.every((word) => this.texts[place].includes(word));
        if (!row.hidden) matches += 1;
      });
      this.show(words.length > 0 ? matches : null);
      if (isSpoken) announce(`${this.title}: ${matches} of ${this.rows.length} rows`);
      return words.length > 0 ? matches : null;
    }

    show(matches = null) {
      const isFolded = this.isFolded && matches === null;
      const total = Number(this.table.dataset.total);
      this.block.classList.toggle("folded", isFolded);
      this.block.classList.toggle("without-match", matches === 0);
      this.unfold.hidden = !this.canFold || matches !== null;
      this.unfold.textContent = this.isFolded ? `Show all ${this.rows.length} rows of this page` : `Show the first ${FIRST_ROWS}`;
      const shown = matches ?? (isFolded ? FIRST_ROWS : this.rows.length);
      const of = matches === null ? total : this.rows.length;
      this.count.textContent = shown === of ? `${of.toLocaleString("en")} rows` : `${shown} of ${of.toLocaleString("en")} rows`;
      if (of === 1) this.count.textContent = "1 row";
    }

    reveal(row) {
      if (row.hidden) {
        all.value = "";
        if (this.input) this.input.value = "";
        this.filter(false);
      }
      if (this.isFolded && this.rows.indexOf(row) >= 0) {
        this.isFolded = false;
        this.show();
      }
    }
  }

  const tables = new Map([...document.querySelectorAll(".table-block")].map((block) => [block, new Table(block)]));

  const filterAll = () => {
    const words = all.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let rows = 0;
    let found = 0;
    for (const table of tables.values()) {
      const matches = table.filter(false) ?? 0;
      rows += matches;
      found += matches > 0 ? 1 : 0;
    }
    for (const section of document.querySelectorAll("section.answers")) {
      const blocks = [...section.querySelectorAll(".table-block")];
      section.classList.toggle("without-match", words.length > 0 && blocks.every((block) => block.classList.contains("without-match")));
    }
    const findings = filterFindings(words);
    const ofFindings = document.getElementById("findings") ? `, ${findings} findings` : "";
    const text = words.length > 0 ? `${rows} rows in ${found} tables${ofFindings}` : "";
    document.getElementById("filter-all-count").textContent = text;
    document.documentElement.classList.toggle("filtered", words.length > 0);
    announce(text || "No filter");
  };
  all.addEventListener("input", filterAll);
  all.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && all.value) {
      all.value = "";
      filterAll();
    }
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, [contenteditable]");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      all.focus();
      all.select();
    }
  });

  // A long name is cut in its middle until it is asked for.
  document.addEventListener("click", (event) => {
    const name = event.target.closest("button.name");
    if (!name || String(getSelection())) return;
    name.setAttribute("aria-expanded", String(name.getAttribute("aria-expanded") !== "true"));
  });

  // Links to rows that are folded away, filtered out or in a closed finding.
  const follow = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      return;
    }
    const target = document.getElementById(id);
    if (!target) return;
    const around = target.closest("details") ?? null;
    if (around) around.open = true;
    if (target.matches("tr")) tables.get(target.closest(".table-block"))?.reveal(target);
    target.scrollIntoView({ block: target.matches("tr") ? "center" : "start" });
  };
  addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
