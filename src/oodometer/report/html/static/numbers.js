// Numbers beside plots, written as in the tables.
"use strict";
(function () {
  const MINUS = "\u2212"; // as wide as a plus

  const fixed = window.oodometer.fixed; // as Python rounds
  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
  const withMinus = (text) => text.replace("-", MINUS);

  function percent(share) {
    return known(share) ? withMinus(fixed(100 * share, 1)) : "–";
  }

  function points(difference) {
    if (!known(difference)) {
      return "–";
    }
    const text = fixed(100 * difference, 1);
    return text.startsWith("-") ? withMinus(text) : `+${text}`;
  }

  function number(value, digits) {
    return known(value) ? withMinus(fixed(value, digits)) : "–";
  }

  function interval(low, high, write) {
    return known(low) && known(high) ? `[${write(low)}, ${write(high)}]` : "";
  }

  function count(value) {
    return known(value) ? value.toLocaleString("en-US") : "?";
  }

  window.oodometer.numbers = {
    percent: percent,
    points: points,
    number: number,
    interval: interval,
    count: count,
  };
})();
