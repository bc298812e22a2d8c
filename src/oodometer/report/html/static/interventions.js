// Each model against its parent: differences on the clean images and under a shift, with their intervals.
"use strict";
(function () {
  const ROW = 40;
  const LINE = 20;
  const AROUND = 96;
  const MOST = 40;
  const NARROW = 640;

  function bars(rows, side) {
    const known = (end) => (row) => {
      const estimate = row[side].difference;
      return estimate[end] === null ? 0 : 100 * Math.abs(estimate[end] - estimate[0]);
    };
    return { array: rows.map(known(2)), arrayminus: rows.map(known(1)) };
  }

  function told(row, side, name) {
    const [value, low, high] = row[side].difference;
    const { points, interval, number } = window.oodometer.numbers;
    const p = row[side].p;
    const test = p === null ? "" : `<br>McNemar p ${p < 0.0001 ? "&lt; 0.0001" : `= ${number(p, 4)}`}`;
    return (
      `<b>${window.oodometer.labels.plain(row.model)}</b> − ${window.oodometer.labels.plain(row.parent)}<br>` +
      `${window.oodometer.labels.plain(name)}: ${points(value)} points ${interval(low, high, points)}${test}`
    );
  }

  // The rows lie a little apart, the clean dot below the shifted one, so that their intervals do not hide each other.
  function dots(rows, side, name, filled) {
    const looks = rows.map((row) => window.oodometer.look(row.category));
    const soft = window.oodometer.theme.soft;
    return {
      type: "scatter",
      mode: "markers",
      showlegend: false,
      x: rows.map((row) => 100 * row[side].difference[0]),
      y: rows.map((_, at) => at + (filled ? -0.14 : 0.2)),
      error_x: Object.assign(
        { type: "data", symmetric: false, thickness: filled ? 2 : 1.2, width: 0, color: filled ? window.oodometer.theme.ink : soft },
        bars(rows, side),
      ),
      marker: {
        symbol: filled ? looks.map((look) => look.symbol) : "circle-open",
        color: filled ? looks.map((look) => look.colour) : soft,
        size: filled ? 11 : 8,
        line: { width: filled ? 0 : 1.5 },
      },
      text: rows.map((row) => told(row, side, name)),
      hovertemplate: "%{text}<extra></extra>",
    };
  }

  // What the marks mean: filled and hollow, then the categories among these models.
  function key(shift, rows) {
    const { ink, soft } = window.oodometer.theme;
    const one = (name, marker) => ({ type: "scatter", mode: "markers", x: [null], y: [null], name: name, marker: marker });
    const { plain, short } = window.oodometer.labels;
    const categories = [...new Set(rows.map((row) => row.category))];
    return [
      one(plain(short(shift.name, 30)), { symbol: "circle", color: ink, size: 10 }),
      one(plain(short(shift.clean, 30)), { symbol: "circle-open", color: soft, size: 8, line: { width: 1.5 } }),
      ...categories.map(function (category) {
        const look = window.oodometer.look(category);
        return one(plain(window.oodometer.spaced(category)), { symbol: look.symbol, color: look.colour, size: 10 });
      }),
    ];
  }

  function names(rows, narrow) {
    const { plain, short } = window.oodometer.labels;
    const most = narrow ? 20 : 34;
    const soft = window.oodometer.theme.soft;
    return rows.map(
      (row) =>
        `${plain(short(row.model, most))}<br>` +
        `<span style="font-size:11px;color:${soft}">from ${plain(short(row.parent, most))}</span>`,
    );
  }

  function show(element, data, now) {
    const shift = data.shifts[now.shift];
    const rows = now.all ? shift.rows : shift.rows.slice(0, MOST);
    const narrow = element.clientWidth < NARROW;
    const drawing = now.parts.drawing;
    const marks = key(shift, rows);
    // On a phone each of them has a line of its own.
    const room = narrow ? LINE * marks.length : 0;
    drawing.style.height = `${AROUND + room + rows.length * ROW}px`;
    const traces = [dots(rows, "shifted", shift.name, true), dots(rows, "clean", shift.clean, false), ...marks];
    now.parts.below.replaceChildren();
    if (shift.rows.length > MOST) {
      const text = now.all ? `Only the first ${MOST}` : `All ${shift.rows.length} models`;
      now.parts.below.append(
        window.oodometer.controls.button(text, function () {
          now.all = !now.all;
          show(element, data, now);
        }),
      );
    }
    window.oodometer.plot(drawing, traces, {
      margin: { l: 56, r: 16, t: 36, b: 48 },
      xaxis: {
        title: { text: narrow ? "points above the parent" : "accuracy minus that of the parent, in points" },
        tickformat: "+~g",
        rangemode: "tozero",
        zeroline: true,
        zerolinecolor: window.oodometer.theme.ink,
        zerolinewidth: 1.5,
        fixedrange: true,
      },
      yaxis: {
        tickvals: rows.map((_, at) => at),
        ticktext: names(rows, narrow),
        range: [rows.length - 0.4, -0.6],
        fixedrange: true,
        showgrid: false,
        zeroline: false,
        tickfont: { color: window.oodometer.theme.ink, size: 13 },
      },
      legend: { orientation: "h", y: 1, yanchor: "bottom", x: 0, xanchor: "left", itemclick: false, itemdoubleclick: false },
    });
  }

  window.oodometer.draw.interventions = function (element, data) {
    const now = window.oodometer.chosen(element, { shift: 0, all: false });
    const shifts = data.shifts.map((shift, at) => [at, shift.name]);
    const change = window.oodometer.changing(now, () => show(element, data, now));
    now.parts = window.oodometer.chooser(element, [window.oodometer.controls.choice("Shift", [["", shifts]], now.shift, change("shift"))]);
    show(element, data, now);
  };
})();
