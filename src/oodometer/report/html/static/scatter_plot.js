// What is drawn in a scatter plot: points with their intervals, the line with its band, the knee, and names where there
// is room.
"use strict";
(function () {
  const FEW = 14; // models up to which all are named, where there is room

  // --- places on the axes ---------------------------------------------------------------------------------------

  // The range of an axis, wide enough for its points, and for their intervals unless these are very wide.
  function rangeOf(shares, ends, scale) {
    const on = (some) => some.map((one) => window.oodometer.scales.to(one, scale)).filter(Number.isFinite);
    const [values, reach] = [on(shares), on(ends)];
    if (!values.length) {
      return scale === "linear" ? [0, 1] : [-3, 3];
    }
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = Math.max((high - low) * 0.06, scale === "linear" ? 0.01 : 0.08);
    const most = Math.max((high - low) * 0.35, 6 * room);
    const from = Math.max(low - most, Math.min(low, ...reach)) - room;
    const to = Math.min(high + most, Math.max(high, ...reach)) + room;
    return scale === "linear" ? [Math.max(from, -0.02), Math.min(to, 1.02)] : [from, to];
  }

  // A share on an axis; those without a place sit on its edge.
  function placeOf(share, scale, range) {
    const at = window.oodometer.scales.to(share, scale);
    return at === Infinity ? range[1] : at === -Infinity ? range[0] : at;
  }

  // Whether one of a model's accuracies has no place on the scale.
  function atEdge(view, at) {
    const { hasPlace } = window.oodometer.scales;
    return !hasPlace(view.pair.x.value[at], view.state.scale) || !hasPlace(view.pair.y.value[at], view.state.scale);
  }

  function rangesOf(view) {
    const { pair, state, shown } = view;
    const of = function (column) {
      const ends = state.bars ? shown.flatMap((at) => [column.low[at], column.high[at]]) : [];
      return rangeOf(shown.map((at) => column.value[at]), ends.filter((one) => one !== null), state.scale);
    };
    return { x: of(pair.x), y: of(pair.y) };
  }

  // --- traces ---------------------------------------------------------------------------------------------------

  function diagonal(view) {
    const low = Math.min(view.ranges.x[0], view.ranges.y[0]);
    const high = Math.max(view.ranges.x[1], view.ranges.y[1]);
    return curve([low, high], [low, high], { color: window.oodometer.theme.soft, width: 1.3, dash: "dash" });
  }

  function curve(x, y, line) {
    return { type: "scatter", mode: "lines", x: x, y: y, line: line, hoverinfo: "skip", showlegend: false };
  }

  // The places of the line that belong to one of its pieces.
  function bandOf(line, piece) {
    if (line.knee === null) {
      return line.band;
    }
    return line.band.filter(([x]) => (piece === 0 ? x <= line.knee : x > line.knee));
  }

  function lineTraces(view) {
    const { line } = view.pair;
    return line && line.band.length ? line.pieces.flatMap((_, piece) => pieceTraces(view, piece)) : [];
  }

  function pieceTraces(view, piece) {
    const { to, from, evenly } = window.oodometer.scales;
    const { line } = view.pair;
    const { scale } = view.state;
    // Through so few models nobody knows where it lies: it is grey, and the words say so.
    const colour = window.oodometer.scatter.isThin(line) ? window.oodometer.theme.soft : window.oodometer.theme.ink;
    const band = bandOf(line, piece).filter(([x]) => Number.isFinite(to(x, scale)));
    const { slope, intercept } = line.pieces[piece];
    const shares = evenly(band.map(([x]) => x), scale);
    const expected = shares.map((x) => from(slope * to(x, line.scale) + intercept, line.scale));
    const on = (share, range) => placeOf(Math.min(Math.max(share, 0), 1), scale, wider(range));
    const across = band.map(([x]) => to(x, scale));
    const area = {
      ...curve(
        [...across, ...across.slice().reverse()],
        [...band.map((one) => on(one[1], view.ranges.y)), ...band.map((one) => on(one[2], view.ranges.y)).reverse()],
        { width: 0 },
      ),
      fill: "toself",
      fillcolor: window.oodometer.marks.tinted(colour, 0.13),
    };
    const drawn = curve(
      shares.map((one) => to(one, scale)),
      expected.map((one) => on(one, view.ranges.y)),
      { color: colour, width: window.oodometer.scatter.isThin(line) ? 1.4 : 2.2 },
    );
    return [area, drawn];
  }

  // Curves that leave the plot do so beyond its edge.
  const wider = ([low, high]) => [low - (high - low), high + (high - low)];

  function bars(view, axis, models, colour) {
    const column = view.pair[axis];
    const [first, last] = view.ranges[axis];
    // Bars end where the plot does.
    const place = (share) => (share === null ? null : Math.min(Math.max(placeOf(share, view.state.scale, [first, last]), first), last));
    const places = (which) => models.map((at) => place(column[which][at]));
    return window.oodometer.marks.bars(places("value"), places("low"), places("high"), colour);
  }

  function categoryTrace(view, category) {
    const { data, state, pair } = view;
    const look = window.oodometer.look(category);
    const models = view.shown.filter((at) => data.categories[data.category[at]] === category);
    const faded = models.map((at) => view.found && !view.found.has(at));
    const edge = models.map((at) => atEdge(view, at));
    const place = (axis) => models.map((at) => placeOf(pair[axis].value[at], state.scale, view.ranges[axis]));
    const pale = window.oodometer.marks.tinted(look.colour, view.found ? 0.12 : 0.4);
    const withBars = (axis) => (state.bars ? bars(view, axis, models, pale) : { visible: false });
    return {
      type: "scatter",
      mode: "markers",
      name: window.oodometer.labels.plain(window.oodometer.spaced(category)),
      x: place("x"),
      y: place("y"),
      error_x: withBars("x"),
      error_y: withBars("y"),
      customdata: models,
      text: models.map((at) => hoverText(view, at)),
      hovertemplate: "%{text}<extra></extra>",
      cliponaxis: false,
      showlegend: false,
      marker: {
        size: window.oodometer.marks.sizeOf(look.symbol, view.size),
        color: look.colour,
        symbol: edge.map((one) => (one ? `${look.symbol}-open` : look.symbol)),
        opacity: faded.map((one) => (one ? 0.12 : window.oodometer.marks.opacityFor(view.shown.length))),
        line: { color: edge.map((one) => (one ? look.colour : window.oodometer.theme.paper)), width: edge.map((one) => (one ? 2 : 0.8)) },
      },
    };
  }

  function accuracyLine(column, at) {
    const { percent, interval, count } = window.oodometer.numbers;
    const ends = interval(column.low[at], column.high[at], percent);
    return `${percent(column.value[at])} %${ends ? ` ${ends}` : ""}${column.n[at] === null ? "" : `, n = ${count(column.n[at])}`}`;
  }

  function hoverText(view, at) {
    const { data, pair } = view;
    const { points, interval } = window.oodometer.numbers;
    const { plain, short, wrapped } = window.oodometer.labels;
    const category = window.oodometer.spaced(data.categories[data.category[at]]);
    const lines = [
      `<b>${wrapped(data.models[at], 44)}</b>`,
      plain(category) + (pair.inLine.has(at) && pair.line ? ", in the line" : ""),
      `${plain(short(pair.x.name, 30))}: ${accuracyLine(pair.x, at)}`,
      `${plain(short(pair.y.name, 30))}: ${accuracyLine(pair.y, at)}`,
    ];
    if (pair.rho[at]) {
      const [value, low, high] = pair.rho[at];
      lines.push(`ρ: ${points(value)} points ${interval(low, high, points)}`);
    }
    return lines.join("<br>");
  }

  // --- the plot -------------------------------------------------------------------------------------------------

  function ticksOf(view, axis, range, pixels) {
    const apart = axis === "x" ? 32 : 24;
    const found = window.oodometer.scales.ticks(range, view.state.scale, pixels, apart);
    return { tickvals: found.map((one) => one.at), ticktext: found.map((one) => one.text) };
  }

  function axisOf(view, axis, pixels) {
    const range = view.ranges[axis];
    const longest = Math.max(14, Math.floor(pixels / 8.2) - 12);
    const name = window.oodometer.labels.plain(window.oodometer.labels.short(view.pair[axis].name, longest));
    return {
      title: { text: `${name}: accuracy, %`, standoff: 8 },
      range: range.slice(),
      tickmode: "array",
      ...ticksOf(view, axis, range, pixels),
      zeroline: false,
      automargin: false,
      showline: true,
      mirror: true,
    };
  }

  function kneeShapes(view) {
    const { line } = view.pair;
    if (!line || line.knee === null) {
      return [];
    }
    const at = window.oodometer.scales.to(line.knee, view.state.scale);
    const style = { color: window.oodometer.theme.soft, width: 1, dash: "dot" };
    return [{ type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: style, layer: "below" }];
  }

  function drawPlot(view, place) {
    const wide = place.clientWidth || 700;
    const high = wide < 560 ? 420 : 560;
    const margin = { l: 58, r: 14, t: 14, b: 50 };
    const traces = [diagonal(view), ...lineTraces(view)];
    // The standard ones below, the others over them: they are what one looks for.
    view.categories.filter(([category]) => !view.state.hidden.has(category)).forEach(([category]) => traces.push(categoryTrace(view, category)));
    const layout = {
      xaxis: axisOf(view, "x", wide - margin.l - margin.r),
      yaxis: axisOf(view, "y", high - margin.t - margin.b),
      margin: margin,
      height: high,
      hovermode: "closest",
      shapes: kneeShapes(view),
      annotations: [],
    };
    window.oodometer.plotRefined(place, traces, layout, (xaxis, yaxis) => refined(view, xaxis, yaxis));
  }

  // Ticks and names that fit what is now seen.
  function refined(view, xaxis, yaxis) {
    const changes = { annotations: namesOf(view, xaxis, yaxis) };
    for (const [name, axis] of [["x", xaxis], ["y", yaxis]]) {
      const found = ticksOf(view, name, axis.range, axis._length);
      // New ticks draw everything again: only where they are new.
      if (String(found.tickvals) !== String(axis.tickvals)) {
        changes[`${name}axis.tickvals`] = found.tickvals;
        changes[`${name}axis.ticktext`] = found.ticktext;
      }
    }
    return changes;
  }

  function namesOf(view, xaxis, yaxis) {
    const points = view.shown.map(function (at) {
      const u = placeOf(view.pair.x.value[at], view.state.scale, view.ranges.x);
      const v = placeOf(view.pair.y.value[at], view.state.scale, view.ranges.y);
      return { u: u, v: v, x: xaxis.l2p(u), y: yaxis.l2p(v), reach: view.size / 2 + 1, name: view.data.models[at] };
    });
    const wanted = notable(view).map((at) => view.shown.indexOf(at));
    const area = { width: xaxis._length, height: yaxis._length };
    const { placed, annotations, inside } = window.oodometer.labels;
    const seen = wanted.filter((at) => inside(points[at], area));
    const thin = [...kneePixels(view, xaxis, area), ...(view.state.bars ? barPixels(view, points, xaxis, yaxis) : [])];
    return annotations(placed(points, seen, [linePixels(view, xaxis, yaxis), thin], area));
  }

  function linePixels(view, xaxis, yaxis) {
    const found = [];
    for (const trace of [diagonal(view), ...lineTraces(view).filter((one) => !one.fill)]) {
      for (let at = 1; at < trace.x.length; at += 1) {
        const from = { x: xaxis.l2p(trace.x[at - 1]), y: yaxis.l2p(trace.y[at - 1]) };
        const to = { x: xaxis.l2p(trace.x[at]), y: yaxis.l2p(trace.y[at]) };
        const steps = Math.min(400, Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 5)));
        for (let step = 0; step <= steps; step += 1) {
          found.push({ x: from.x + ((to.x - from.x) * step) / steps, y: from.y + ((to.y - from.y) * step) / steps });
        }
      }
    }
    return found;
  }

  function kneePixels(view, xaxis, area) {
    const high = Array.from({ length: Math.ceil(area.height / 6) }, (_, at) => at * 6);
    return kneeShapes(view).flatMap((shape) => high.map((y) => ({ x: xaxis.l2p(shape.x0), y: y })));
  }

  function barPixels(view, points, xaxis, yaxis) {
    return view.shown.flatMap(function (at, place) {
      const pixel = function (name, axis, which) {
        const share = view.pair[name][which][at];
        return share === null ? null : axis.l2p(placeOf(share, view.state.scale, view.ranges[name]));
      };
      const ends = [pixel("x", xaxis, "low"), pixel("x", xaxis, "high"), pixel("y", yaxis, "low"), pixel("y", yaxis, "high")];
      return window.oodometer.marks.alongBars(points[place], ends);
    });
  }

  // The models to be named: those that were searched for; all where they are few; else the best.
  function notable(view) {
    const { pair, shown } = view;
    if (view.found) {
      return shown.filter((at) => view.found.has(at)).slice(0, 12);
    }
    const byY = shown.slice().sort((a, b) => pair.y.value[b] - pair.y.value[a]);
    if (shown.length <= FEW) {
      return byY;
    }
    const rho = (at) => (pair.rho[at] ? pair.rho[at][0] : -Infinity);
    const byRho = shown.slice().sort((a, b) => rho(b) - rho(a));
    return [...new Set([byRho[0], byY[0], byRho[1], byY[1], byRho[2]])];
  }

  Object.assign(window.oodometer.scatter, { rangesOf: rangesOf, atEdge: atEdge, drawPlot: drawPlot });
})();
