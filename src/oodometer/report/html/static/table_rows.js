// The numbers of a table, without the page: values of cells, digits and room of columns, the order of rows, CSV.
"use strict";
(function () {
  const LONGEST = 36; // signs of a text on one line
  const LONGEST_TITLE = 14; // of a title above numbers

  const { compare } = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /** @param {unknown} value */
  const known = (value) => value !== null && value !== undefined;
  /** @param {TableCell} cell @returns {cell is EstimateCell} */
  function estimated(cell) {
    return Array.isArray(cell);
  }
  /** @param {TableCell} cell */
  const valueOf = (cell) => (estimated(cell) ? cell[0] : cell);
  /** @param {TableCell} cell @returns {cell is [number, number, number, (number | null)?]} */
  function hasInterval(cell) {
    return estimated(cell) && known(cell[1]) && known(cell[2]);
  }

  /** @type {PageRows["digitsOf"]} */
  function digitsOf(column, cells) {
    if (typeof column.digits === "number") {
      return column.digits;
    }
    const sizes = cells.map(valueOf).map((value) => (typeof value === "number" ? Math.abs(value) : 0));
    const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
    return window.oodometer.numbers.digitsFor(column.unit, largest);
  }

  // The least and the greatest end of an interval, between which all of a column are drawn; of differences as far below
  // 0 as above it.
  /** @type {PageRows["endsOf"]} */
  function endsOf(column, cells) {
    const found = column.bar ? cells.filter(hasInterval) : [];
    const low = Math.min(...found.map((cell) => cell[1]));
    const high = Math.max(...found.map((cell) => cell[2]));
    const reach = Math.max(-low, high);
    /** @type {[number, number]} */
    const ends = column.unit === "points" ? [-reach, reach] : [low, high];
    return ends[1] > ends[0] ? ends : null;
  }

  // Room for the longest text of a column and for its title, within reason: names on one line, tables not too broad.
  /** @type {PageRows["roomOf"]} */
  function roomOf(column, cells) {
    if (column.unit !== "text") {
      return Math.min(column.title.length, LONGEST_TITLE);
    }
    const longest = Math.max(column.title.length, ...cells.map((cell) => (typeof cell === "string" ? cell.length : 0)));
    return Math.min(longest, LONGEST);
  }

  // The places of the rows, sorted by a column; what is not known stands last, both ways.
  /** @type {PageRows["order"]} */
  function order(rows, place, descending) {
    return rows
      .map((row, at) => ({ key: valueOf(row[place]), at: at }))
      .sort(function (a, b) {
        if (!known(a.key) || !known(b.key)) {
          return Number(known(b.key)) - Number(known(a.key)) || a.at - b.at;
        }
        const side = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : compare(String(a.key), String(b.key));
        return (descending ? -side : side) || a.at - b.at;
      })
      .map(({ at }) => at);
  }

  // What a caption says of that order.
  /** @type {PageRows["orderWords"]} */
  function orderWords(column, descending) {
    const ends = column.unit === "text" ? ["Z to A", "A to Z"] : ["greatest first", "least first"];
    return `By ${column.title}, ${ends[descending ? 0 : 1]}.`;
  }

  /** @param {string | number | null | undefined} value */
  function csvField(value) {
    // A text that a spreadsheet would take for a formula is told to be text.
    const formula = typeof value === "string" && /^[=+@\t\r-]/.test(value) && Number.isNaN(Number(value));
    const text = known(value) ? (formula ? "'" : "") + String(value) : "";
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // Rows of cells under titles, in full precision: a column with estimates becomes four.
  /** @type {PageRows["csvOf"]} */
  function csvOf(titles, rows) {
    const wide = titles.map((_, place) => rows.some((row) => estimated(row[place])));
    const head = titles.flatMap((title, place) => (wide[place] ? [title, `${title} low`, `${title} high`, `${title} n`] : [title]));
    /** @type {(cell: TableCell) => (string | number | null | undefined)[]} */
    const four = (cell) => (estimated(cell) ? cell : [cell, null, null, null]);
    const lines = rows.map((row) => row.flatMap((cell, place) => (wide[place] ? four(cell) : [valueOf(cell)])));
    return [head, ...lines].map((line) => line.map(csvField).join(",") + "\r\n").join("");
  }

  window.oodometer.rows = { compare, valueOf, hasInterval, digitsOf, endsOf, roomOf, order, orderWords, csvOf };
})();
