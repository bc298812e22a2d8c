// Accuracy under a shift against clean accuracy of every model, with the line that says what to expect.
"use strict";
(function () {
  const MANY = 60; // models from which on intervals are drawn only when asked for
  const FEW = 14; // models up to which all are named, where there is room
  const FEW_SHIFTS = 8; // up to which each has its button
  const PLACES = 81; // at which a curve is drawn
  const SEED = 0;
  const SCALES = ["logit", "probit", "linear"];
  const RHO = "Effective robustness: accuracy minus what the line expects at the model's accuracy on the horizontal axis, in points.";
  const IN_LINE = "Whether the line goes through the model; its ρ is then closer to 0 than it would be otherwise.";
  let latest = null; // what was drawn last: a click may come before the drawing of the one before is done
  let kept = null; // what was chosen, while the plot is drawn anew

  // --- data -----------------------------------------------------------------------------------------------------

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
    pair.inLine = new Set(pair.models.filter((at) => data.baseline[at] && pair.x.value[at] >= data.baselineAbove));
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

  // A line for a pair that has none: the same straight line on the same scale, its band from resampled models.
  function madeHere(data, pair) {
    const scales = window.oodometer.scales;
    const models = [...pair.inLine];
    const [x, y] = [models.map((at) => pair.x.value[at]), models.map((at) => pair.y.value[at])];
    const fitted = scales.fitLine(x, y, data.scale);
    if (fitted.why) {
      const who = data.baselineCategory ? ` of category ${data.baselineCategory}` : "";
      return { line: null, why: `through the models${who}: ${fitted.why}`, made: true };
    }
    const drawn = scales.bootstrapLines(x, y, data.scale, data.draws, SEED);
    const [low, high] = scales.percentiles(drawn.slopes, data.level);
    const across = pair.models.map((at) => pair.x.value[at]);
    // Evenly on its own scale and on the plain one, so that it is smooth on all.
    const shares = [...between(across, data.scale), ...between(across, "linear").slice(1, -1)].sort((a, b) => a - b);
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
        band: scales.band(drawn, data.scale, shares, data.level),
      },
      why: "",
      made: true,
    };
  }

  // Shares from the least to the greatest that have a place on the scale, evenly on it.
  function between(values, scale) {
    const { to, from } = window.oodometer.scales;
    const places = values.map((one) => to(one, scale)).filter(Number.isFinite);
    const [low, high] = [Math.min(...places), Math.max(...places)];
    return Array.from({ length: PLACES }, (_, at) => from(low + ((high - low) * at) / (PLACES - 1), scale));
  }

  // --- what is chosen, and its address --------------------------------------------------------------------------

  function firstChoice(data) {
    const shift = data.shifts.find((one) => one.line) || data.shifts[0];
    return {
      x: shift ? shift.x : 0,
      y: shift ? shift.y : Math.min(1, data.columns.length - 1),
      scale: data.scale,
      bars: data.models.length <= MANY,
      hidden: new Set(),
      find: "",
      open: false,
    };
  }

  function fromAddress(data, state) {
    const [name, query] = window.location.hash.split(/\?(.*)/s);
    if (name !== "#scatter" || query === undefined) {
      return state;
    }
    const given = new URLSearchParams(query);
    const column = (wanted, otherwise) => {
      const at = data.columns.findIndex((one) => one.name === wanted);
      return at < 0 ? otherwise : at;
    };
    return {
      ...state,
      x: column(given.get("x"), state.x),
      y: column(given.get("y"), state.y),
      scale: SCALES.includes(given.get("scale")) ? given.get("scale") : state.scale,
      bars: given.has("bars") ? given.get("bars") === "1" : state.bars,
      hidden: new Set(given.getAll("hide").filter((one) => data.categories.includes(one))),
      find: given.get("find") || "",
    };
  }

  function toAddress(data, state) {
    const said = new URLSearchParams({
      x: data.columns[state.x].name,
      y: data.columns[state.y].name,
      scale: state.scale,
      bars: state.bars ? "1" : "0",
    });
    state.hidden.forEach((one) => said.append("hide", one));
    if (state.find) {
      said.set("find", state.find);
    }
    try {
      window.history.replaceState(null, "", `#scatter?${said}`);
    } catch (error) {
      // a page that may not change its address, as inside some mail programs
    }
  }

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

  const atEdge = (share, scale) => scale !== "linear" && (share <= 0 || share >= 1);

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
    const { to, from } = window.oodometer.scales;
    const { line } = view.pair;
    const { scale } = view.state;
    const colour = window.oodometer.theme.ink;
    const band = bandOf(line, piece).filter(([x]) => Number.isFinite(to(x, scale)));
    const { slope, intercept } = line.pieces[piece];
    const shares = between(band.map(([x]) => x), scale);
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
      { color: colour, width: 2.2 },
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
    const edge = models.map((at) => atEdge(pair.x.value[at], state.scale) || atEdge(pair.y.value[at], state.scale));
    const place = (axis) => models.map((at) => placeOf(pair[axis].value[at], state.scale, view.ranges[axis]));
    const pale = window.oodometer.marks.tinted(look.colour, view.found ? 0.12 : 0.4);
    const withBars = (axis) => (state.bars ? bars(view, axis, models, pale) : { visible: false });
    return {
      type: "scatter",
      mode: "markers",
      name: window.oodometer.labels.plain(category.replaceAll("_", " ")),
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
        opacity: faded.map((one) => (one ? 0.12 : 0.88)),
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
    const category = data.categories[data.category[at]].replaceAll("_", " ");
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
    latest = view;
    const wide = place.clientWidth || 700;
    const high = wide < 560 ? 420 : 560;
    place.style.height = `${high}px`;
    const margin = { l: 58, r: 14, t: 14, b: 50 };
    view.size = window.oodometer.marks.sizeFor(view.shown.length);
    const traces = [diagonal(view), ...lineTraces(view)];
    // The standard ones below, the others over them: they are what one looks for.
    view.categories.filter(([category]) => !view.state.hidden.has(category)).forEach(([category]) => traces.push(categoryTrace(view, category)));
    const layout = {
      xaxis: axisOf(view, "x", wide - margin.l - margin.r),
      yaxis: axisOf(view, "y", high - margin.t - margin.b),
      margin: margin,
      height: high,
      hovermode: "closest",
      dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
      shapes: kneeShapes(view),
      annotations: [],
    };
    return window.oodometer.plot(place, traces, layout).then(function () {
      if (latest === view) {
        refine(view, place);
        place.on("plotly_afterplot", () => refine(view, place));
      }
    });
  }

  // Ticks and names that fit what is now seen: after drawing, zooming, resizing.
  function refine(view, place) {
    const { xaxis, yaxis } = place._fullLayout;
    const seen = JSON.stringify([xaxis.range, yaxis.range, xaxis._length, yaxis._length]);
    if (seen === place.dataset.seen) {
      return;
    }
    place.dataset.seen = seen;
    const changes = { annotations: namesOf(view, xaxis, yaxis) };
    for (const [name, axis] of [["x", xaxis], ["y", yaxis]]) {
      const found = ticksOf(view, name, axis.range, axis._length);
      // New ticks draw everything again: only where they are new.
      if (String(found.tickvals) !== String(axis.tickvals)) {
        changes[`${name}axis.tickvals`] = found.tickvals;
        changes[`${name}axis.ticktext`] = found.ticktext;
      }
    }
    window.Plotly.relayout(place, changes);
  }

  function namesOf(view, xaxis, yaxis) {
    const points = view.shown.map(function (at) {
      const u = placeOf(view.pair.x.value[at], view.state.scale, view.ranges.x);
      const v = placeOf(view.pair.y.value[at], view.state.scale, view.ranges.y);
      return { u: u, v: v, x: xaxis.l2p(u), y: yaxis.l2p(v), reach: view.size / 2 + 1, name: view.data.models[at] };
    });
    const wanted = notable(view).map((at) => view.shown.indexOf(at));
    const area = { width: xaxis._length, height: yaxis._length };
    const inside = wanted.filter((at) => points[at].x >= 0 && points[at].x <= area.width && points[at].y >= 0 && points[at].y <= area.height);
    const { placed, annotations } = window.oodometer.labels;
    const thin = [...kneePixels(view, xaxis, area), ...(view.state.bars ? barPixels(view, points, xaxis, yaxis) : [])];
    return annotations(placed(points, inside, [linePixels(view, xaxis, yaxis), thin], area));
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

  // --- words and numbers below ----------------------------------------------------------------------------------

  function slopeWords(piece) {
    const { number, interval } = window.oodometer.numbers;
    const ends = interval(piece.slopeLow, piece.slopeHigh, (one) => number(one, 2));
    return `slope ${number(piece.slope, 2)}${ends ? ` ${ends}` : ""}`;
  }

  function lineWords(view) {
    const { data, pair } = view;
    const { number, percent } = window.oodometer.numbers;
    const { line } = pair;
    if (!line) {
      return `There is no line here: ${pair.why}.`;
    }
    const who = data.baselineCategory ? ` of category ${data.baselineCategory.replaceAll("_", " ")}` : "";
    const lost = line.leftOut ? ` (${line.leftOut} more at exactly 0 or 100 % left out)` : "";
    const through = `through ${line.n} models${who}${lost}, R² = ${number(line.r2, 2)} on the ${line.scale} scale`;
    if (line.kind === "plane") {
      return `What to expect is a plane over several clean sets (${[pair.x.name, ...pair.shift.others].join(", ")}), ${through}; it is no line in this picture, and ρ is measured from the plane.`;
    }
    if (line.kind === "two lines") {
      return `Two lines that change over at a knee of ${percent(line.knee)}\u00a0%: below it ${slopeWords(line.pieces[0])}, above it ${slopeWords(line.pieces[1])}; ${through}.`;
    }
    return `The line has ${slopeWords(line.pieces[0])}, ${through}.`;
  }

  function bestWords(view) {
    const { pair, data, shown } = view;
    const { points, interval, percent } = window.oodometer.numbers;
    if (shown.length < 2) {
      return "";
    }
    const top = (score) => shown.reduce((best, at) => (score(at) > score(best) ? at : best));
    const first = top((at) => pair.y.value[at]);
    const words = [`Most accurate on ${pair.y.name}: ${data.models[first]} with ${percent(pair.y.value[first])}\u00a0%.`];
    if (pair.line) {
      const far = top((at) => pair.rho[at][0]);
      const [rho, low, high] = pair.rho[far];
      const ends = interval(low, high, points);
      words.push(`${rho > 0 ? "Furthest above the line" : "Closest to the line, from below"}: ${data.models[far]}, ρ\u00a0=\u00a0${points(rho)}\u00a0points${ends ? ` ${ends}` : ""}.`);
    }
    return words.join(" ");
  }

  function notesOf(view) {
    const { pair, state, shown } = view;
    const notes = pair.shift ? pair.shift.notes.slice() : [];
    const edge = shown.filter((at) => atEdge(pair.x.value[at], state.scale) || atEdge(pair.y.value[at], state.scale));
    if (edge.length) {
      const them = edge.length === 1 ? "1 model is" : `${edge.length} models are`;
      notes.push(`${them} at exactly 0 or 100 %, which has no place on a ${state.scale} axis: drawn open, on the edge.`);
    }
    if (pair.made && pair.line) {
      notes.push("This pair is no shift of the study: its line and band were made in this page, from the same kind of models on the same scale, the band by resampling models. ρ has no interval here.");
    }
    const kinds = [...new Set([pair.x.interval, pair.y.interval])].filter(Boolean);
    notes.push(`Intervals of accuracies: ${kinds.join("; ")}.`);
    return notes;
  }

  function wordsBelow(view, place) {
    const make = window.oodometer.make;
    const n = view.pair.models.length;
    const some = view.shown.length === n ? `${n} models are drawn.` : `${view.shown.length} of ${n} models are drawn.`;
    const found = view.found ? ` ${view.shown.filter((at) => view.found.has(at)).length} of them fit “${view.state.find}”.` : "";
    const said = make("p", { role: "status" }, [lineWords(view), some + found, bestWords(view)].filter(Boolean).join(" "));
    const notes = notesOf(view).map((one) => make("p", { className: "small" }, one));
    place.replaceChildren(said, ...notes);
  }

  function tableRows(view) {
    const { data, pair } = view;
    const estimate = (column, at) => [column.value[at], column.low[at], column.high[at], column.n[at]];
    const wanted = view.shown.filter((at) => !view.found || view.found.has(at));
    wanted.sort((a, b) => pair.y.value[b] - pair.y.value[a]);
    return wanted.map((at) => [
      data.models[at],
      data.categories[data.category[at]],
      estimate(pair.x, at),
      estimate(pair.y, at),
      pair.rho[at] ? [...pair.rho[at], pair.y.n[at]] : null,
      pair.line && pair.inLine.has(at) ? "yes" : "no",
    ]);
  }

  function tableBelow(view, place) {
    const { pair } = view;
    const columns = [
      { title: "model", how: "text" },
      { title: "category", how: "text" },
      { title: pair.x.name, how: "percent", better: "high" },
      { title: pair.y.name, how: "percent", better: "high" },
      { title: "ρ", how: "points", better: "high", about: RHO },
      { title: "in the line", how: "text", about: IN_LINE },
    ];
    const options = { caption: `${pair.y.name} against ${pair.x.name}`, filters: "category", name: "scatter" };
    window.oodometer.controls.folded(place, view.state, () => ({ columns: columns, rows: tableRows(view), options: options }));
  }

  // --- controls -------------------------------------------------------------------------------------------------

  function grouped(items, group, option) {
    const groups = new Map();
    items.forEach(function (item, at) {
      const name = group(item);
      groups.set(name, [...(groups.get(name) || []), option(item, at)]);
    });
    return [...groups];
  }

  function shiftControls(data, state, change) {
    const { choice, buttons, button } = window.oodometer.controls;
    const make = window.oodometer.make;
    const now = data.shifts.findIndex((one) => one.x === state.x && one.y === state.y);
    const go = (at) => change({ x: data.shifts[at].x, y: data.shifts[at].y });
    if (!data.shifts.length) {
      return [];
    }
    if (data.shifts.length <= FEW_SHIFTS) {
      return [buttons("Shift", data.shifts.map((one, at) => [at, one.name]), now, go)];
    }
    const groups = grouped(data.shifts, (one) => one.kind, (one, at) => [at, one.name]);
    const list = choice("Shift", now < 0 ? [["", [["-1", "none: a pair of your own"]]], ...groups] : groups, now, (at) => Number(at) >= 0 && go(Number(at)));
    const n = data.shifts.length;
    const step = (by) => go(((now < 0 ? (by > 0 ? -1 : 0) : now) + by + n) % n);
    return [
      make(
        "div",
        { className: "stepped" },
        list,
        button("‹", () => step(-1), { "aria-label": "Previous shift", className: "step" }),
        button("›", () => step(1), { "aria-label": "Next shift", className: "step" }),
      ),
    ];
  }

  function axisControls(data, state, change) {
    const { choice } = window.oodometer.controls;
    const groups = grouped(data.columns, (one) => one.group, (one, at) => [at, one.name]);
    return [
      choice("Horizontal axis", groups, state.x, (at) => change({ x: Number(at) })),
      choice("Vertical axis", groups, state.y, (at) => change({ y: Number(at) })),
    ];
  }

  function otherControls(state, change) {
    const { buttons, check, field } = window.oodometer.controls;
    return [
      buttons("Scale", SCALES.map((one) => [one, one]), state.scale, (scale) => change({ scale: scale })),
      check("Intervals", state.bars, (bars) => change({ bars: bars })),
      field("Find models", state.find, (find) => change({ find: find })),
    ];
  }

  // Keys to the lines; the categories have theirs in the legend.
  function keys(view) {
    const make = window.oodometer.make;
    const { line } = view.pair;
    const one = (kind, text) => make("span", { className: "key" }, make("i", { className: kind, "aria-hidden": "true" }), text);
    const level = Math.round(1000 * view.data.level) / 10;
    const drawn = line && line.band.length ? [one("solid", "the line, with its " + level + " % band")] : [];
    const knee = line && line.knee !== null ? [one("dotted", "the knee")] : [];
    const { x, y } = view.ranges;
    const where = y[1] < x[0] ? " (above this view)" : y[0] > x[1] ? " (below this view)" : "";
    return make("div", { className: "keys" }, one("dashed", `y = x: nothing lost${where}`), ...drawn, ...knee);
  }

  // --- all of it ------------------------------------------------------------------------------------------------

  function viewOf(data, state) {
    const pair = chosenPair(data, state.x, state.y);
    const name = (at) => data.categories[data.category[at]];
    const wanted = state.find.trim().toLowerCase();
    const view = {
      data: data,
      state: state,
      pair: pair,
      categories: data.categories
        .map((one) => [one, pair.models.filter((at) => name(at) === one).length])
        .filter(([, n]) => n > 0),
      shown: pair.models.filter((at) => !state.hidden.has(name(at))),
      found: wanted ? new Set(pair.models.filter((at) => data.models[at].toLowerCase().includes(wanted))) : null,
    };
    view.ranges = rangesOf(view);
    return view;
  }

  // The frame stays while choices change, so that the keyboard's focus does too.
  function draw(element, data) {
    const make = window.oodometer.make;
    kept = kept || fromAddress(data, firstChoice(data));
    const places = {
      controls: make("div", { className: "controls" }),
      legend: make("div", {}),
      plot: make("div", {}),
      words: make("div", { className: "below" }),
      table: make("div", {}),
    };
    element.replaceChildren(...Object.values(places));
    const change = function (some) {
      Object.assign(kept, some);
      toAddress(data, kept);
      show(data, places, change, "find" in some);
    };
    show(data, places, change, false);
    listen(data, () => show(data, places, change, false));
  }

  function show(data, places, change, typing) {
    const view = viewOf(data, kept);
    if (!typing) {
      window.oodometer.controls.refill(places.controls, [...shiftControls(data, kept, change), ...axisControls(data, kept, change), ...otherControls(kept, change)]);
    }
    const toggle = function (category) {
      const hidden = new Set(kept.hidden);
      hidden.delete(category) || hidden.add(category);
      change({ hidden: hidden });
    };
    window.oodometer.controls.refill(places.legend, [window.oodometer.controls.legend(view.categories, kept.hidden, toggle), keys(view)]);
    delete places.plot.dataset.seen;
    drawPlot(view, places.plot);
    places.plot.setAttribute("aria-label", `${view.pair.y.name} against ${view.pair.x.name}, ${view.shown.length} models. ${lineWords(view)}`);
    wordsBelow(view, places.words);
    tableBelow(view, places.table);
  }

  let heard = null;
  function listen(data, again) {
    window.removeEventListener("hashchange", heard);
    heard = function () {
      if (window.location.hash.startsWith("#scatter?")) {
        kept = fromAddress(data, { ...firstChoice(data), open: kept.open });
        again();
        scrollThere();
      }
    };
    window.addEventListener("hashchange", heard);
  }

  function scrollThere() {
    const heading = document.getElementById("scatter");
    if (heading && window.location.hash.startsWith("#scatter?")) {
      heading.scrollIntoView();
    }
  }

  window.oodometer.draw.scatter = draw;
  window.oodometer.scatter = { chosenPair: chosenPair };
  document.addEventListener("DOMContentLoaded", scrollThere);
})();
