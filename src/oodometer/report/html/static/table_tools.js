// What can be done with a table: search, choose a category, choose columns, put intervals away, save; and what its
// columns mean.
"use strict";
(function () {
  const { make, spaced } = window.oodometer;
  const { compare, hasInterval } = window.oodometer.rows;
  const MANY_COLUMNS = 15; // from here on they are searched too

  // The row of tools of a living table (table.js), which hears of every choice.
  function toolsOf(living) {
    const bar = make("div", { className: "tools", role: "group", "aria-label": "This table" });
    const place = living.columns.findIndex((column) => column.title === living.filters);
    living.count = make("span", { className: "seen", role: "status" });
    const save = make("button", { type: "button" }, "Save CSV");
    save.addEventListener("click", () => living.save());
    bar.append(
      ...(living.isSmall() ? [] : [searchField(living)]),
      ...(living.isSmall() || place < 0 ? [] : [filterField(living, place)]),
      ...(living.columns.length > 4 ? [columnsMenu(living)] : []),
      ...(living.rows.some((row) => row.some(hasInterval)) ? [intervalsBox(living)] : []),
      make("div", { className: "end" }, living.count, save),
    );
    return bar;
  }

  function searchField(living) {
    const field = make("input", { type: "search", placeholder: "any words", autocomplete: "off", spellcheck: false });
    field.addEventListener("input", () => living.choose());
    living.search = field;
    return make("label", {}, "Search", field);
  }

  function filterField(living, place) {
    const values = Array.from(new Set(living.rows.map((row) => String(row[place] ?? "–"))));
    values.sort(compare);
    const name = living.columns[place].title;
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    const field = make("select", { "aria-label": title }, make("option", { value: "" }, "all"));
    values.forEach((value, at) => field.append(make("option", { value: String(at + 1) }, spaced(value))));
    field.addEventListener("change", () => living.choose());
    living.filter = () => (field.value ? [place, values[Number(field.value) - 1]] : null);
    return make("label", {}, title, field);
  }

  function columnsMenu(living) {
    const boxes = living.columns.slice(1).map((_, at) => {
      const box = make("input", { type: "checkbox", checked: living.shown[at + 1] });
      box.addEventListener("change", () => living.show(at + 1, box.checked));
      return box;
    });
    const every = (text, checked) => {
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        boxes.forEach((box, at) => {
          box.checked = checked;
          living.shown[at + 1] = checked;
        });
        living.refill();
      });
      return button;
    };
    const labels = boxes.map((box, at) => make("label", {}, box, living.columns[at + 1].title));
    const field = make("fieldset", {}, make("legend", { className: "unseen" }, "Columns"));
    field.append(make("div", { className: "all" }, every("All", true), every("None", false)));
    field.append(...(labels.length > MANY_COLUMNS ? [columnSearch(labels)] : []), ...labels);
    const menu = make("details", { className: "menu" }, make("summary", {}, "Columns"), field);
    closes(menu);
    return menu;
  }

  function columnSearch(labels) {
    const find = make("input", { type: "search", placeholder: "find a column", "aria-label": "Find a column" });
    find.addEventListener("input", () => {
      const wanted = find.value.toLowerCase();
      labels.forEach((label) => (label.hidden = !label.textContent.toLowerCase().includes(wanted)));
    });
    return find;
  }

  // A menu closes by Escape, and by a click elsewhere.
  function closes(menu) {
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && menu.open) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    });
    document.addEventListener("click", (event) => {
      if (!menu.contains(event.target)) {
        menu.open = false;
      }
    });
  }

  function intervalsBox(living) {
    const box = make("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => living.table.classList.toggle("plain", !box.checked));
    return make("label", { className: "check" }, box, "Intervals");
  }

  // What the columns mean, folded; nothing where no column says it.
  function meanings(columns) {
    const known = columns.filter((column) => column.about);
    if (!known.length) {
      return [];
    }
    const list = make("dl", {});
    known.forEach((column) => list.append(make("dt", {}, column.title), make("dd", {}, column.about)));
    return [make("details", { className: "meanings" }, make("summary", {}, "What the columns mean"), list)];
  }

  window.oodometer.tableTools = { toolsOf, meanings };
})();
