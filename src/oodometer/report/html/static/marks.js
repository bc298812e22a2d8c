// How models are drawn as marks: sizes, colours that let others through, intervals.
"use strict";
(function () {
  // Marks that look smaller than a circle of the same size.
  const SMALL = {
    "triangle-up": 1.3,
    "triangle-down": 1.3,
    "triangle-left": 1.3,
    "triangle-right": 1.3,
    star: 1.3,
    pentagon: 1.15,
    cross: 1.15,
  };

  /** @type {PageMarks["tinted"]} */
  function tinted(hex, opacity) {
    const part = (from) => parseInt(hex.slice(from, from + 2), 16);
    return /^#[0-9a-f]{6}$/i.test(hex) ? `rgba(${part(1)},${part(3)},${part(5)},${opacity})` : `rgba(128,128,128,${opacity})`;
  }

  const LARGEST = 11; // pixels
  const SMALLEST = 3.5;
  const FEW = 20; // marks that have their full size

  // The size of marks where there are so many: 8 pixels of a hundred, 6 of 338, 4.6 of 1,556.
  /** @type {PageMarks["sizeFor"]} */
  const sizeFor = (n) => (n <= FEW ? LARGEST : Math.max(SMALLEST, LARGEST * (FEW / n) ** 0.2));

  // How much they cover what is below them.
  /** @type {PageMarks["opacityFor"]} */
  const opacityFor = (n) => (n <= 400 ? 0.88 : 0.65);

  // Plotly's error bars, from and to places on the axis; null where an interval is not known.
  /** @type {PageMarks["bars"]} */
  function bars(values, lows, highs, colour) {
    const reach = (ends) => ends.map((end, at) => (end === null ? 0 : Math.abs(end - values[at])));
    return { type: "data", symmetric: false, array: reach(highs), arrayminus: reach(lows), thickness: 1, width: 0, color: colour };
  }

  // Places in pixels along the intervals of a point: ends are [left, right, low, high] in pixels, null where unknown.
  /** @type {PageMarks["alongBars"]} */
  function alongBars(point, [left, right, low, high]) {
    const steps = Array.from({ length: 25 }, (_, at) => at / 24);
    const across = left === null || right === null ? [] : steps.map((one) => ({ x: left + (right - left) * one, y: point.y }));
    const up = low === null || high === null ? [] : steps.map((one) => ({ x: point.x, y: low + (high - low) * one }));
    return [...across, ...up];
  }

  window.oodometer.marks = {
    tinted: tinted,
    sizeFor: sizeFor,
    opacityFor: opacityFor,
    sizeOf: (symbol, size) => size * (SMALL[symbol] || 1),
    bars: bars,
    alongBars: alongBars,
  };
})();
