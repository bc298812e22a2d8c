// How numbers are written, in tables and beside plots: as document/numbers.py writes them.
"use strict";
(function () {
  const MINUS = "\u2212"; // as wide as a plus
  const SHARES = ["percent", "points"];

  /** @param {number | null | undefined} value @returns {value is number} */
  function known(value) {
    return typeof value === "number" && Number.isFinite(value);
  }

  /** @param {number} value @param {number} digits */
  function fixed(value, digits) {
    const halves = value * 2 ** (digits + 1); // a number just between two is an odd multiple of 1 / 2^(digits + 1)
    if (!Number.isInteger(halves) || halves % 2 === 0) {
      return value.toFixed(digits);
    }
    const whole = Math.floor(Math.abs(value) * 10 ** digits); // to the even one, as Python does
    return ((Math.sign(value) * (whole + (whole % 2))) / 10 ** digits).toFixed(digits);
  }

  // A number as a column {unit, digits, least} of a table has it.
  /** @type {PageNumbers["written"]} */
  function written(value, column) {
    if (typeof column.least === "number" && value < column.least) {
      return `< ${written(column.least, column)}`;
    }
    if (column.unit === "count") {
      return value.toLocaleString("en-US", { maximumFractionDigits: 0 }).replace("-", MINUS);
    }
    const text = fixed(SHARES.includes(column.unit) ? value * 100 : value, column.digits ?? 0);
    const sign = column.unit === "points" && !text.startsWith("-") ? "+" : "";
    return sign + text.replace("-", MINUS);
  }

  // How many digits a column has, whose largest number is this.
  /** @type {PageNumbers["digitsFor"]} */
  function digitsFor(unit, largest) {
    if (unit === "count") {
      return 0;
    }
    return SHARES.includes(unit) || largest >= 10 ? 1 : 3;
  }

  /** @type {PageNumbers["number"]} */
  const number = (value, digits) => (known(value) ? written(value, { unit: "number", digits: digits }) : "–");
  /** @type {PageNumbers["percent"]} */
  const percent = (share) => (known(share) ? written(share, { unit: "percent", digits: 1 }) : "–");
  /** @type {PageNumbers["points"]} */
  const points = (difference) => (known(difference) ? written(difference, { unit: "points", digits: 1 }) : "–");
  /** @type {PageNumbers["count"]} */
  const count = (value) => (known(value) ? written(value, { unit: "count" }) : "?");

  /** @type {PageNumbers["interval"]} */
  function interval(low, high, write) {
    return known(low) && known(high) ? `[${write(low)}, ${write(high)}]` : "";
  }

  // ``[value, low, high]`` as 74.1 % [71.3, 76.8].
  /** @type {PageNumbers["estimate"]} */
  function estimate([value, low, high]) {
    return `${percent(value)} % ${interval(low, high, percent)}`.trim();
  }

  window.oodometer.numbers = {
    written: written,
    digitsFor: digitsFor,
    number: number,
    percent: percent,
    points: points,
    count: count,
    interval: interval,
    estimate: estimate,
  };
})();
