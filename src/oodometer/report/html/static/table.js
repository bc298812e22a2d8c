// Tables: sorted by a click on a column, searched, filtered, columns chosen, saved as CSV. What the page was made with
// is already there as HTML; this brings it to life. `oodometer.table` makes the same of numbers that a script has.
"use strict";
(function () {
  const { make, mark, spaced } = window.oodometer;
  const { written } = window.oodometer.numbers;
  const { valueOf, hasInterval, digitsOf, endsOf, roomOf, order, orderWords, csvOf } = window.oodometer.rows;
  const { toolsOf, meanings } = window.oodometer.tableTools;
  const FEW_ROWS = 5; // up to here nobody searches, even where rows are of kinds
  const MANY_ROWS = 12; // from here on a table is searched
  function headCell(column) {
    const cell = make("th", { scope: "col", className: column.unit });
    cell.style.setProperty("--room", column.room);
    cell.append(column.title);
    if (column.unit === "percent") {
      cell.append(" ", make("small", {}, "%"));
    }
    return cell;
  }

  function bodyCell(cell, column, first, best, link) {
    const element = make(first ? "th" : "td", { className: column.unit });
    if (first) {
      element.scope = "row";
    }
    const value = valueOf(cell);
    const text = typeof value === "number" ? written(value, column) : value === null || value === undefined ? "–" : String(value);
    element.append(link ? link.cloneNode(true) : best ? make("b", {}, text) : text);
    if (typeof value === "number" && hasInterval(cell)) {
      element.append(make("small", {}, `[${written(cell[1], column)}, ${written(cell[2], column)}]`));
      if (column.ends) {
        const width = column.ends[1] - column.ends[0];
        element.style.setProperty("--low", ((cell[1] - column.ends[0]) / width).toFixed(4));
        element.style.setProperty("--high", ((cell[2] - column.ends[0]) / width).toFixed(4));
      }
    }
    return element;
  }

  // ---- a table ----

  // A table on the page: its data, what is shown of it, and its elements.
  class LivingTable {
    constructor(element, data, folded) {
      this.element = element;
      this.columns = data.columns.map((column, place) => {
        const cells = data.rows.map((row) => row[place]);
        const unit = column.unit || "text";
        const digits = digitsOf({ ...column, unit }, cells);
        return { ...column, unit, digits, ends: endsOf(column, cells), room: roomOf({ ...column, unit }, cells) };
      });
      this.rows = data.rows;
      this.best = new Set((data.bold || []).map(([row, place]) => `${row},${place}`));
      this.name = data.name || element.id || element.closest("[id]")?.id || "table";
      this.caption = data.caption || "";
      this.asItCame = data.order || "";
      this.filters = data.filters === undefined ? null : data.filters;
      this.shown = this.columns.map((column) => !column.hidden);
      this.order = this.rows.map((_, at) => at);
      this.sorted = null;
      this.lines = [];
      this.links = new Map(); // those that the page came with, by row and column
      this.folded = folded;
      // What its tools set: a field, which of the categories, and where the number of rows is said.
      this.search = null;
      this.filter = () => null;
      this.count = make("span");
    }

    start() {
      const there = this.element.querySelector("table");
      if (there) {
        this.adopt(there);
      } else {
        this.build();
      }
      this.liven();
      if (this.isSmall()) {
        this.element.append(make("div", { className: "foot" }, ...meanings(this.columns), toolsOf(this)));
      } else {
        this.element.prepend(toolsOf(this));
        this.element.append(...meanings(this.columns));
      }
      this.signs();
      this.measure();
      window.oodometer.cue(this.wide);
      this.choose();
    }

    // What can be done with a few rows stands below them, and takes no room above.
    isSmall() {
      return this.rows.length <= (this.filters === null ? MANY_ROWS : FEW_ROWS);
    }

    adopt(there) {
      this.table = there;
      this.wide = there.parentElement;
      this.lines = Array.from(there.tBodies[0].rows);
      const places = this.places();
      this.lines.forEach((line, row) => {
        Array.from(line.cells).forEach((cell, at) => this.links.set(`${row},${places[at]}`, cell.querySelector("a")));
      });
      if (!there.tHead.rows[0].cells[0].style.length) {
        this.fill(); // a page whose elements came without styles
      }
    }

    build() {
      const caption = make("caption", this.folded ? { className: "unseen" } : {}, make("span", { className: "pinned" }, ...this.captionParts()));
      this.table = make("table", {}, caption, make("thead", {}, make("tr")), make("tbody"));
      this.wide = make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": this.caption || "Table" }, this.table);
      this.element.replaceChildren(this.wide);
      this.fill();
    }

    captionParts() {
      return this.asItCame ? [`${this.caption} `, make("span", { className: "order" }, this.asItCame)] : [this.caption];
    }

    // Head and body of the columns that are shown.
    fill() {
      const places = this.places();
      this.table.tHead.rows[0].replaceChildren(...places.map((place) => headCell(this.columns[place])));
      const cells = (row, line) =>
        places.map((place, at) => {
          const key = `${line},${place}`;
          return bodyCell(row[place], this.columns[place], at === 0, this.best.has(key), this.links.get(key));
        });
      this.lines = this.rows.map((row, line) => make("tr", {}, ...cells(row, line)));
      this.arrange();
    }

    places() {
      return this.columns.map((_, place) => place).filter((place) => this.shown[place]);
    }

    arrange() {
      this.table.tBodies[0].replaceChildren(...this.order.map((at) => this.lines[at]));
    }

    // Buttons in the head: a click sorts.
    liven() {
      const places = this.places();
      Array.from(this.table.tHead.rows[0].cells).forEach((cell, at) => {
        const place = places[at];
        const button = make("button", { type: "button", title: this.columns[place].about || "" }, ...cell.childNodes);
        button.addEventListener("click", () => this.sort(place));
        cell.replaceChildren(button);
        cell.dataset.place = place;
      });
      this.tell();
    }

    tell() {
      for (const cell of this.table.tHead.rows[0].cells) {
        const own = this.sorted && this.sorted.place === Number(cell.dataset.place);
        cell.setAttribute("aria-sort", own ? (this.sorted.descending ? "descending" : "ascending") : "none");
      }
    }

    sort(place) {
      const column = this.columns[place];
      const bestFirst = column.unit !== "text" && column.better !== "low";
      const again = this.sorted && this.sorted.place === place;
      const descending = again ? !this.sorted.descending : bestFirst;
      this.sorted = { place, descending };
      this.order = order(this.rows, place, descending);
      this.arrange();
      this.tell();
      this.tellOrder();
    }

    // What the caption says about the order is true of the order that there is.
    tellOrder() {
      const told = this.table.caption.querySelector(".order");
      if (told) {
        told.textContent = orderWords(this.columns[this.sorted.place], this.sorted.descending);
      }
    }

    // On paper, the more columns the smaller.
    measure() {
      const n = this.places().length;
      [7, 12, 15, 18].forEach((least) => this.element.classList.toggle(`columns-${least}`, n >= least));
    }

    // The sign of its category before each name of one.
    signs() {
      const at = this.places().findIndex((place) => this.columns[place].title === this.filters);
      const looks = window.oodometer.looks;
      const place = this.places()[at];
      if (at < 0 || !this.rows.some((row) => row[place] in looks)) {
        return; // words without signs stay words on a phone too
      }
      this.table.tHead.rows[0].cells[at].classList.add("signs");
      this.lines.forEach((line, row) => {
        const category = this.rows[row][place];
        if (category in looks) {
          line.cells[at].replaceChildren(mark(category), make("span", { className: "word" }, spaced(category)));
        }
      });
    }

    show(place, shown) {
      this.shown[place] = shown;
      this.refill();
    }

    refill() {
      this.fill();
      this.liven();
      this.signs();
      this.measure();
      this.choose();
    }

    // Which rows are shown: those with every word that is searched for, and of the chosen category.
    choose() {
      const wanted = (this.search?.value || "").toLowerCase().split(/\s+/).filter(Boolean);
      const only = this.filter();
      const texts = this.columns.map((column, place) => place).filter((place) => this.columns[place].unit === "text");
      let n = 0;
      this.rows.forEach((row, at) => {
        const text = texts.map((place) => row[place] ?? "").join(" ").toLowerCase();
        const seen = wanted.every((word) => text.includes(word)) && (!only || String(row[only[0]] ?? "–") === only[1]);
        this.lines[at].hidden = !seen;
        n += seen;
      });
      const all = this.rows.length;
      this.count.textContent = n === all ? `${all} ${all === 1 ? "row" : "rows"}` : `${n} of ${all} rows`;
    }

    // The rows and columns that are shown, in their order.
    csv() {
      const places = this.places();
      const seen = this.order.filter((at) => !this.lines[at].hidden);
      return csvOf(places.map((place) => this.columns[place].title), seen.map((at) => places.map((place) => this.rows[at][place])));
    }

    save() {
      const address = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv;charset=utf-8" }));
      make("a", { href: address, download: `${this.name}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    }
  }

  // oodometer.table(element, columns, rows, options): columns as {title, unit, about, better, digits, bar, hidden}, cells
  // as text, a number, null or [value, low, high, n]; options {caption, filters, name}.
  function table(element, columns, rows, options) {
    element.classList.add("table");
    element.replaceChildren();
    const living = new LivingTable(element, { ...options, columns, rows }, false);
    living.start();
    return living;
  }

  function startAll() {
    for (const element of document.querySelectorAll(".table[data-table]")) {
      const fold = element.closest("details.numbers");
      if (!fold) {
        new LivingTable(element, window.oodometer.dataIn(element), false).start();
        continue;
      }
      fold.addEventListener("toggle", () => new LivingTable(element, window.oodometer.dataIn(fold), true).start(), { once: true });
    }
  }

  window.oodometer.table = table;
  startAll();
})();
