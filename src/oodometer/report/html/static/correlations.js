// Synthetic by natural shifts: correlations of effective robustness.
"use strict";
(function () {
  const FEW_ROWS = 24; // with room for the interval and n in each cell
  const FEW_COLUMNS = 6; // whose names stand upright

  function signed(value) {
    return window.oodometer.numbers.number(Math.abs(value) < 0.005 ? 0 : value, 2);
  }

  // Without the zeros that all of them would begin with: many stand side by side.
  function interval(low, high) {
    return `[${[low, high].map((end) => signed(end).replace("0.", ".")).join(", ")}]`;
  }

  function told(level, [r, low, high, n]) {
    if (r === null) {
      return [`undefined over ${n} models: too few, or all alike`];
    }
    const ends = low === null ? [] : [`${100 * level} % interval ${signed(low)} to ${signed(high)}`];
    return [`r = ${signed(r)}`, ...ends, `${n} models`];
  }

  function cellOf(level, numbers) {
    const [r, low, high, n] = numbers;
    if (r === null) {
      return { text: "–", place: 0.5, small: [`n = ${n}`], lines: told(level, numbers) };
    }
    return {
      text: signed(r),
      place: (r + 1) / 2,
      small: [...(low === null ? [] : [interval(low, high)]), `n = ${n}`],
      lines: told(level, numbers),
      strong: low !== null && (low > 0 || high < 0),
    };
  }

  function about(shift) {
    return `compared with ${shift.x}, line through ${shift.line} models`;
  }

  function show(place, data, now) {
    place.replaceChildren();
    const level = data.levels[Number(now.level)];
    const columns = data.natural.map((one) => ({ title: one.name, about: about(one) }));
    const rows = level.rows.map((one) => ({
      title: one.name,
      note: one.conditions > 1 && level.rows.length <= FEW_ROWS ? `mean of ${one.conditions} conditions` : "",
      cells: one.cells.map((numbers) => cellOf(data.level, numbers)),
    }));
    window.oodometer.heatlegend(place, "\u22121", "1", "r", true);
    window.oodometer.heatgrid(place, columns, rows, {
      caption: `Correlation of effective robustness: ${rows.length} synthetic by ${columns.length} natural shifts`,
      corner: "synthetic \\ natural",
      bothWays: true,
      dense: rows.length > FEW_ROWS,
      tall: rows.length <= FEW_ROWS,
      upright: columns.length > FEW_COLUMNS,
    });
  }

  window.oodometer.draw.correlations = function (element, data) {
    const now = window.oodometer.chosen(element, { level: "0" });
    const names = data.levels.map((one, at) => [at, one.name]);
    const change = function (value) {
      now.level = value;
      show(places.drawing, data, now);
    };
    const places = window.oodometer.chooser(element, [
      ...(names.length > 1 ? [window.oodometer.controls.choice("Synthetic shifts", [["", names]], now.level, change)] : []),
    ]);
    show(places.drawing, data, now);
  };
})();
