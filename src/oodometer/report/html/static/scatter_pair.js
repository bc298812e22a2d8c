// The two conditions that are chosen for a scatter plot: their models, the line through them, and ρ.
"use strict";
(function () {
  // A column with a number for every model, null where it was not measured.
  function unpackColumn(data, place) {
    const column = data.columns[place];
    const empty = () => Array(data.models.length).fill(null);
    const found = { name: column.name, interval: column.interval, value: empty(), low: empty(), high: empty(), n: empty() };
    data.sets[column.set].forEach(function (model, row) {
      const n = Array.isArray(column.n) ? column.n[row] : column.n;
      found.n[model] = n;
      found.value[model] = column.right ? column.right[row] / n : column.value[row];
      found.low[model] = column.low[row] === null ? null : column.low[row] / data.parts;
      found.high[model] = column.high[row] === null ? null : column.high[row] / data.parts;
    });
    return found;
  }

  // The two columns as they are chosen, their models, the line, and ρ.
  function chosenPair(data, x, y) {
    const pair = { x: unpackColumn(data, x), y: unpackColumn(data, y) };
    pair.shift = data.shifts.find((one) => one.x === x && one.y === y) || null;
    pair.models = pair.shift
      ? data.sets[pair.shift.set]
      : data.models.map((_, at) => at).filter((at) => pair.x.value[at] !== null && pair.y.value[at] !== null);
    const above = (pair.shift || data).baselineAbove;
    pair.inLine = new Set(pair.models.filter((at) => data.baseline[at] && pair.x.value[at] >= above));
    pair.rho = {};
    return Object.assign(pair, pair.shift ? measured(data, pair) : madeHere(data, pair));
  }

  // The line and ρ that came with the page.
  function measured(data, pair) {
    const shift = pair.shift;
    const part = (value) => (value === null ? null : value / data.parts);
    if (shift.line) {
      pair.models.forEach(function (at, row) {
        pair.rho[at] = [part(shift.rho[row]), part(shift.rhoLow[row]), part(shift.rhoHigh[row])];
      });
    }
    return { line: shift.line, why: shift.why, made: false };
  }

  // A line for a pair that has none: the same straight line on the same scale, with the band over models that Python would draw.
  function madeHere(data, pair) {
    const scales = window.oodometer.scales;
    const models = [...pair.inLine];
    const [x, y] = [models.map((at) => pair.x.value[at]), models.map((at) => pair.y.value[at])];
    const fitted = scales.fitLine(x, y, data.scale);
    if (fitted.why) {
      const who = data.baselineCategory ? ` of category ${data.baselineCategory}` : "";
      return { line: null, why: `through the models${who}: ${fitted.why}`, made: true };
    }
    const spread = scales.spreadOf(x, y, data.scale, fitted);
    const [low, high] = scales.slopeEnds(fitted, spread, data.student);
    const across = pair.models.map((at) => pair.x.value[at]);
    // Evenly on its own scale and on the plain one, so that it is smooth on all.
    const shares = [...scales.evenly(across, data.scale), ...scales.evenly(across, "linear").slice(1, -1)].sort((a, b) => a - b);
    for (const at of pair.models) {
      const expected = scales.from(fitted.slope * scales.to(pair.x.value[at], data.scale) + fitted.intercept, data.scale);
      pair.rho[at] = [pair.y.value[at] - expected, null, null];
    }
    return {
      line: {
        kind: "line",
        scale: data.scale,
        r2: fitted.r2,
        n: fitted.n,
        leftOut: fitted.leftOut,
        knee: null,
        pieces: [{ ...fitted, slopeLow: low, slopeHigh: high }],
        band: scales.band(fitted, spread, data.scale, shares, data.student),
      },
      why: "",
      made: true,
    };
  }

  Object.assign(window.oodometer.scatter, { chosenPair: chosenPair });
})();
