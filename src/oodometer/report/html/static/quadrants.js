// Effective robustness ρ against relative robustness τ of models that are made from others.
"use strict";
(function () {
  const FEW_SHIFTS = 8; // up to which each has its button
  const FEW = 14; // models up to which all are named, where there is room
  // Right and up, left and up, right and down, left and down.
  const WORDS = {
    "++": "helps over its parent<br>and beyond the line",
    "-+": "helps over its parent,<br>not beyond the line",
    "+-": "beyond the line,<br>but below its parent",
    "--": "below its parent<br>and below the line",
  };
  const ABOUT = {
    rho: "Effective robustness: accuracy under the shift minus what the line expects at the model's clean accuracy, in points.",
    tau: "Relative robustness: accuracy under the shift minus that of the parent, in points.",
  };
  const NARROW = 560;
  /** @type {any} */
  let kept = null; // what was chosen, while the plot is drawn anew

  const sides = (rho, tau) => `${rho > 0 ? "+" : "-"}${tau > 0 ? "+" : "-"}`;
  const surely = ([, low]) => low !== null && low > 0;

  function rowsOf(data, shift) {
    const part = (value) => (value === null ? null : value / data.parts);
    const estimate = (name, at) => [shift[name][at], shift[`${name}Low`][at], shift[`${name}High`][at]].map(part);
    return shift.models.map((model, at) => ({
      model: model,
      parent: shift.parents[at],
      category: data.category[model],
      rho: estimate("rho", at),
      tau: estimate("tau", at),
      n: shift.n[at],
    }));
  }

  function viewOf(data, state, narrow) {
    const all = rowsOf(data, data.shifts[state.shift]);
    const counted = data.categories.map((one) => [one, all.filter((row) => row.category === one).length]);
    const view = { data: data, state: state, shift: data.shifts[state.shift], categories: counted.filter(([, n]) => n > 0) };
    view.rows = all.filter((row) => !state.hidden.has(row.category));
    view.ranges = { rho: rangeOf(view, "rho", 0.08, narrow ? 0.75 : 0.3), tau: rangeOf(view, "tau", 0.2, 0.3) };
    view.size = window.oodometer.marks.sizeFor(view.rows.length);
    return view;
  }

  // Both signs have room (at least this share of the whole), and the words in the corners too.
  function rangeOf(view, name, share, side) {
    const values = view.rows.flatMap((row) => (view.state.bars ? row[name] : row[name].slice(0, 1))).filter((one) => one !== null);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const least = Math.max(high - low, 0.02);
    const room = least * share;
    return [Math.min(low, -least * side) - room, Math.max(high, least * side) + room];
  }

  function hoverText(row) {
    const { points, interval } = window.oodometer.numbers;
    const { plain, wrapped } = window.oodometer.labels;
    const said = (sign, [value, low, high]) => `${sign}: ${points(value)} points ${interval(low, high, points)}`;
    return [
      `<b>${wrapped(row.model, 44)}</b>`,
      plain(window.oodometer.spaced(row.category)),
      `made from ${wrapped(row.parent, 40)}`,
      said("ρ", row.rho),
      said("τ", row.tau),
    ].join("<br>");
  }

  function trace(view, category) {
    const { marks, labels } = window.oodometer;
    const look = window.oodometer.look(category);
    const rows = view.rows.filter((row) => row.category === category);
    const of = (name, part) => rows.map((row) => row[name][part]);
    const bars = (name) =>
      view.state.bars ? marks.bars(of(name, 0), of(name, 1), of(name, 2), marks.tinted(look.colour, 0.45)) : { visible: false };
    return {
      type: "scatter",
      mode: "markers",
      name: labels.plain(category),
      x: of("rho", 0),
      y: of("tau", 0),
      error_x: bars("rho"),
      error_y: bars("tau"),
      text: rows.map(hoverText),
      hovertemplate: "%{text}<extra></extra>",
      showlegend: false,
      marker: {
        size: marks.sizeOf(look.symbol, view.size),
        color: look.colour,
        symbol: look.symbol,
        opacity: 0.9,
        line: { color: window.oodometer.theme.paper, width: 0.8 },
      },
    };
  }

  function ticksOf(range, pixels, apart) {
    const most = Math.min(11, pixels / apart);
    const wide = 100 * (range[1] - range[0]);
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20].find((one) => wide / one <= most) || 50;
    const first = Math.ceil((100 * range[0]) / step);
    const n = Math.floor((100 * range[1]) / step) - first + 1;
    const values = Array.from({ length: Math.max(0, n) }, (_, at) => Number(((first + at) * step).toFixed(4)) || 0);
    return {
      tickmode: "array",
      tickvals: values.map((one) => one / 100),
      ticktext: values.map((one) => (one > 0 ? `+${one}` : String(one).replace("-", "\u2212"))),
    };
  }

  function axisOf(view, name, title, pixels) {
    const now = window.oodometer.theme;
    return {
      title: { text: title, standoff: 8 },
      range: view.ranges[name].slice(),
      ...ticksOf(view.ranges[name], pixels, name === "rho" ? 36 : 26),
      zeroline: true,
      zerolinecolor: now.soft,
      zerolinewidth: 1.5,
      showline: true,
      mirror: true,
      automargin: false,
    };
  }

  // The quadrant where both help is shaded.
  function shapes() {
    const fill = window.oodometer.marks.tinted(window.oodometer.theme.accent, window.oodometer.theme.dark ? 0.1 : 0.07);
    const far = 10; // beyond what can be seen, also after enlarging
    return [{ type: "rect", x0: 0, y0: 0, x1: far, y1: far, fillcolor: fill, line: { width: 0 }, layer: "below" }];
  }

  function corners() {
    const soft = window.oodometer.theme.soft;
    return Object.entries(WORDS).map(function ([signs, text]) {
      const [right, up] = [signs[0] === "+", signs[1] === "+"];
      return {
        xref: "paper",
        yref: "paper",
        x: right ? 1 : 0,
        y: up ? 1 : 0,
        xanchor: right ? "right" : "left",
        yanchor: up ? "top" : "bottom",
        align: right ? "right" : "left",
        xshift: right ? -6 : 6,
        yshift: up ? -4 : 4,
        text: text,
        showarrow: false,
        font: { size: 11.5, color: soft },
      };
    });
  }

  // The zeros and the words of the corners, as places that names keep off.
  function reserved(area, zero) {
    const found = [];
    for (let share = 0; share <= 1; share += 0.005) {
      found.push({ x: zero.x, y: share * area.height }, { x: share * area.width, y: zero.y });
    }
    for (const x of [0, area.width - 140]) {
      for (const y of [0, area.height - 36]) {
        for (let across = 0; across <= 140; across += 4) {
          for (let down = 0; down <= 36; down += 6) {
            found.push({ x: x + across, y: y + down });
          }
        }
      }
    }
    return found;
  }

  function names(view, xaxis, yaxis) {
    const points = view.rows.map((row) => ({
      u: row.rho[0],
      v: row.tau[0],
      x: xaxis.l2p(row.rho[0]),
      y: yaxis.l2p(row.tau[0]),
      reach: view.size / 2 + 1,
      name: row.model,
    }));
    const area = { width: xaxis._length, height: yaxis._length };
    const { placed, annotations, inside } = window.oodometer.labels;
    const order = view.rows.map((_, at) => at).filter((at) => inside(points[at], area));
    order.sort((a, b) => view.rows[b].rho[0] + view.rows[b].tau[0] - view.rows[a].rho[0] - view.rows[a].tau[0]);
    const wanted = order.length <= FEW ? order : [...order.slice(0, 3), ...order.slice(-2)];
    const pixel = (axis, value) => (value === null ? null : axis.l2p(value));
    const bars = view.rows.flatMap((row, at) =>
      window.oodometer.marks.alongBars(points[at], [
        pixel(xaxis, row.rho[1]), pixel(xaxis, row.rho[2]), pixel(yaxis, row.tau[1]), pixel(yaxis, row.tau[2]),
      ]),
    );
    return annotations(placed(points, wanted, [reserved(area, { x: xaxis.l2p(0), y: yaxis.l2p(0) }), view.state.bars ? bars : []], area));
  }

  function drawPlot(view, place) {
    const wide = place.clientWidth || 700;
    const narrow = wide < NARROW;
    const high = narrow ? 400 : 500;
    const margin = { l: 62, r: 14, t: 14, b: 50 };
    const traces = view.categories.filter(([one]) => !view.state.hidden.has(one)).map(([one]) => trace(view, one));
    const layout = {
      xaxis: axisOf(view, "rho", narrow ? "ρ, points" : "effective robustness ρ, points", wide - margin.l - margin.r),
      yaxis: axisOf(view, "tau", narrow ? "τ, points" : "relative robustness τ, points", high - margin.t - margin.b),
      margin: margin,
      height: high,
      hovermode: "closest",
      shapes: shapes(),
      annotations: corners(),
    };
    window.oodometer.plotRefined(place, traces, layout, (xaxis, yaxis) => ({ annotations: [...corners(), ...names(view, xaxis, yaxis)] }));
  }

  function words(view) {
    const n = view.rows.length;
    if (!n) {
      return "No model is shown.";
    }
    const both = view.rows.filter((row) => sides(row.rho[0], row.tau[0]) === "++");
    const sure = both.filter((row) => surely(row.rho) && surely(row.tau));
    const above = view.rows.filter((row) => row.tau[0] > 0).length;
    const have = n === 1 ? "1 model with a parent is drawn" : `${n} models with a parent are drawn`;
    return `Under ${view.shift.name}, ${have}: ${above} above the parent, ${both.length} above it and beyond the line (${sure.length} with both intervals above 0).`;
  }

  function tableOf(view) {
    const columns = [
      { title: "model", unit: "text" },
      { title: "category", unit: "text" },
      { title: "parent", unit: "text" },
      { title: "ρ", unit: "points", better: "high", about: ABOUT.rho },
      { title: "τ", unit: "points", better: "high", about: ABOUT.tau },
      { title: "quadrant", unit: "text" },
    ];
    const rows = view.rows.map((row) => [
      row.model,
      row.category,
      row.parent,
      [...row.rho, row.n],
      [...row.tau, row.n],
      WORDS[sides(row.rho[0], row.tau[0])].replace("<br>", " "),
    ]);
    const options = { caption: `ρ and τ under ${view.shift.name}`, filters: "category", name: "quadrants" };
    return { columns: columns, rows: rows, options: options };
  }

  function shiftControl(data, state, change) {
    const { choice, buttons } = window.oodometer.controls;
    const options = data.shifts.map((one, at) => [at, one.name]);
    const go = (at) => change({ shift: Number(at) });
    return data.shifts.length <= FEW_SHIFTS ? buttons("Shift", options, state.shift, go) : choice("Shift", [["", options]], state.shift, go);
  }

  function show(data, places) {
    const { refill, check, legend, folded } = window.oodometer.controls;
    const change = function (some) {
      Object.assign(kept, some);
      show(data, places);
    };
    const view = viewOf(data, kept, places.plot.clientWidth < NARROW);
    refill(places.controls, [shiftControl(data, kept, change), check("Intervals", kept.bars, (bars) => change({ bars: bars }))]);
    refill(places.legend, [legend(view.categories, kept.hidden, (hidden) => change({ hidden: hidden }))]);
    drawPlot(view, places.plot);
    places.plot.setAttribute("aria-label", words(view));
    places.words.replaceChildren(window.oodometer.make("p", { role: "status" }, words(view)));
    places.table.replaceChildren(folded("The numbers of what is chosen", kept, () => tableOf(view)));
  }

  function draw(element, data) {
    kept = kept || { shift: 0, bars: true, hidden: new Set(), open: false };
    show(data, window.oodometer.frame(element));
  }

  window.oodometer.draw.quadrants = draw;
})();
