// How numbers are written, in tables and beside plots: as written.py writes them.
"use strict";
(function () {
  const MINUS = "\u2212"; // as wide as a plus
  const SHARES = ["percent", "points"];

  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

  function fixed(value, digits) {
    const halves = value * 2 ** (digits + 1); // a number just between two is an odd multiple of 1 / 2^(digits + 1)
    if (!Number.isInteger(halves) || halves % 2 === 0) {
      return value.toFixed(digits);
    }
    const whole = Math.floor(Math.abs(value) * 10 ** digits); // to the even one, as Python does
    return ((Math.sign(value) * (whole + (whole % 2))) / 10 ** digits).toFixed(digits);
  }

  // A number as a column {unit, digits, least} of a table has it.
  function written(value, column) {
    if (typeof column.least === "number" && value < column.least) {
      return `< ${written(column.least, column)}`;
    }
    if (column.unit === "count") {
      return value.toLocaleString("en-US", { maximumFractionDigits: 0 }).replace("-", MINUS);
    }
    const text = fixed(SHARES.includes(column.unit) ? value * 100 : value, column.digits);
    const sign = column.unit === "points" && !text.startsWith("-") ? "+" : "";
    return sign + text.replace("-", MINUS);
  }

  // How many digits a column has, whose largest number is this.
  function digitsFor(unit, largest) {
    if (unit === "count") {
      return 0;
    }
    return SHARES.includes(unit) || largest >= 10 ? 1 : 3;
  }

  const number = (value, digits) => (known(value) ? written(value, { unit: "number", digits: digits }) : "–");
  const percent = (share) => (known(share) ? written(share, { unit: "percent", digits: 1 }) : "–");
  const points = (difference) => (known(difference) ? written(difference, { unit: "points", digits: 1 }) : "–");
  const count = (value) => (known(value) ? written(value, { unit: "count" }) : "?");

  function interval(low, high, write) {
    return known(low) && known(high) ? `[${write(low)}, ${write(high)}]` : "";
  }

  // ``[value, low, high]`` as 74.1 % [71.3, 76.8].
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
