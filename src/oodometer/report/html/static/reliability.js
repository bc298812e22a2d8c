// Accuracy in bins of confidence, on both sides of a shift, with the number of images in each bin.
"use strict";
(function () {
  const TIGHT = 900; // pixels below which ECE and RMS stand below each other
  const DIAGONAL = [0, 1];

  // Where the plot of each side and its counts lie.
  function places(narrow, n, width) {
    if (n === 1) {
      return [{ x: [0, narrow ? 1 : 0.6], main: [0.22, 0.9], counts: [0, 0.14] }];
    }
    return narrow
      ? [
          { x: [0, 1], main: [0.66, 0.94], counts: [0.57, 0.62] },
          { x: [0, 1], main: [0.1, 0.38], counts: [0, 0.06] },
        ]
      : window.oodometer.sides.halves(width).map((x) => ({ x: x, main: [0.22, 0.88], counts: [0, 0.14] }));
  }

  function axes(at) {
    const end = (number) => (number === 1 ? "" : String(number));
    return { x: `x${end(at + 1)}`, main: `y${end(2 * at + 1)}`, counts: `y${end(2 * at + 2)}` };
  }

  function key(axis) {
    return `${axis[0]}axis${axis.slice(1)}`;
  }

  function layoutOf(sides, narrow, width) {
    const layout = { showlegend: false, margin: { l: 60, r: 16, t: 28, b: 48 }, bargap: 0, barmode: "overlay" };
    layout.annotations = [];
    const ticks = { tickformat: ".0%", dtick: 0.2, fixedrange: true };
    places(narrow, sides.length, width).forEach(function (place, at) {
      const name = axes(at);
      layout[key(name.x)] = Object.assign(
        { domain: place.x, range: [0, 1.02], anchor: name.counts, title: "confidence", zeroline: false },
        ticks,
      );
      layout[key(name.main)] = Object.assign(
        { domain: place.main, range: [0, 1.04], anchor: name.x, title: { text: "accuracy", standoff: 10 }, zeroline: false },
        ticks,
      );
      layout[key(name.counts)] = {
        domain: place.counts,
        anchor: name.x,
        title: { text: "images", standoff: 10 },
        nticks: 3,
        rangemode: "tozero",
        fixedrange: true,
      };
      layout.annotations.push(window.oodometer.sides.heading(place.x[0], place.main[1], sides[at].text));
    });
    return layout;
  }

  function hover(bin) {
    return (
      `${window.oodometer.numbers.percent(bin[0])} % sure on average<br>` +
      `${window.oodometer.numbers.estimate(bin.slice(1, 4))} right<br>${window.oodometer.numbers.count(bin[4])} images`
    );
  }

  function tracesOf(answers, at, nBins, { look, other }) {
    const name = axes(at);
    const bins = answers.bins;
    return [
      {
        type: "scatter",
        mode: "lines+markers",
        x: bins.map((bin) => bin[0]),
        y: bins.map((bin) => bin[1]),
        error_y: {
          type: "data",
          symmetric: false,
          array: bins.map((bin) => bin[3] - bin[1]),
          arrayminus: bins.map((bin) => bin[1] - bin[2]),
          color: look.colour,
          thickness: 1.2,
          width: 3,
        },
        line: { color: look.colour, width: 2, dash: other ? "dot" : "solid" },
        marker: { color: look.colour, size: 8, symbol: look.symbol + (other ? "-open" : "") },
        text: bins.map(hover),
        hovertemplate: "%{text}<extra></extra>",
        xaxis: name.x,
        yaxis: name.main,
      },
      {
        type: "bar",
        x: bins.map((bin) => (Math.max(Math.ceil(bin[0] * nBins), 1) - 0.5) / nBins),
        y: bins.map((bin) => bin[4]),
        width: (other ? 0.45 : 0.9) / nBins,
        marker: { color: look.colour, opacity: other ? 1 : 0.45 },
        text: bins.map(hover),
        textposition: "none",
        hovertemplate: "%{text}<extra></extra>",
        xaxis: name.x,
        yaxis: name.counts,
      },
    ];
  }

  function diagonal(at) {
    const name = axes(at);
    return {
      type: "scatter",
      mode: "lines",
      x: DIAGONAL,
      y: DIAGONAL,
      line: { color: window.oodometer.theme.soft, width: 1, dash: "dash" },
      hoverinfo: "skip",
      xaxis: name.x,
      yaxis: name.main,
    };
  }

  // The models that are drawn, and how.
  function shown(data, now) {
    const one = data.models[now.model];
    const found = [{ at: now.model, name: one.name, look: window.oodometer.look(one.category), other: false }];
    if (now.other >= 0 && now.other !== now.model) {
      const two = data.models[now.other];
      const look = { colour: window.oodometer.theme.accent, symbol: window.oodometer.look(two.category).symbol };
      found.push({ at: now.other, name: two.name, look: look, other: true });
    }
    return found;
  }

  // ``tight``: two such lines side by side would run into each other.
  function words(model, answers, several, narrow, tight) {
    const mark = several ? `<b>${window.oodometer.labels.plain(window.oodometer.labels.short(model.name, narrow ? 18 : 26))}</b>  ` : "";
    const rms = answers ? `${tight ? "<br>" : " · "}RMS ${window.oodometer.numbers.estimate(answers.rms)}` : "";
    const told = answers ? `ECE ${window.oodometer.numbers.estimate(answers.ece)}${narrow && several ? "" : rms}` : "not run on it";
    return `<span style="color:${model.look.colour};font-size:12px">${mark}${told}</span>`;
  }

  const COLUMNS = [
    { title: "model", unit: "text" },
    { title: "condition", unit: "text" },
    { title: "confidence", unit: "percent", digits: 1, about: "Mean of the bin" },
    { title: "accuracy", unit: "percent", digits: 1, about: "Of the images in the bin" },
    { title: "images", unit: "count", digits: 0 },
  ];

  function rowsOf(models, sides) {
    const each = sides.flatMap((side) => models.map((model) => ({ model: model.name, side: side.name, answers: side.of(model.at) })));
    return each.flatMap(({ model, side, answers }) =>
      (answers ? answers.bins : []).map((bin) => [model, side, bin[0], bin.slice(1, 5), bin[4]]),
    );
  }

  function sidesOf(data, now) {
    return window.oodometer.sides.names(data.shifts[now.shift]).map((name, at) => ({
      name: name,
      of: (model) => window.oodometer.sides.answers(data, now.shift, model, at),
    }));
  }

  function show(element, data, now) {
    const narrow = window.oodometer.sides.isNarrow(element);
    const models = shown(data, now);
    const sides = sidesOf(data, now);
    const traces = [];
    const drawn = sides.map(function (side, at) {
      traces.push(diagonal(at));
      const lines = models.map(function (model) {
        const answers = side.of(model.at);
        traces.push(...(answers ? tracesOf(answers, at, data.n_bins, model) : []));
        return words(model, answers, models.length > 1, narrow, element.clientWidth < TIGHT);
      });
      const n = side.of(now.model) ? `, ${window.oodometer.numbers.count(side.of(now.model).n)} images` : "";
      return { text: [window.oodometer.sides.title(side.name, narrow) + n, ...lines].join("<br>") };
    });
    const { drawing, below } = now.parts;
    const more = models.length > 1 ? 24 : 0;
    drawing.style.height = `${(narrow && sides.length > 1 ? 900 : 500) + more}px`;
    window.oodometer.plot(drawing, traces, layoutOf(drawn, narrow, element.clientWidth));
    const caption = "The numbers of these bins.";
    const numbers = () => ({ columns: COLUMNS, rows: rowsOf(models, sides), options: { caption: caption } });
    below.replaceChildren(window.oodometer.controls.folded(caption, now, numbers));
  }

  window.oodometer.draw.reliability = function (element, data) {
    const now = window.oodometer.chosen(element, { shift: 0, model: 0, other: -1 });
    const change = window.oodometer.changing(now, () => show(element, data, now));
    const models = data.models.map((model, at) => [at, model.name]);
    const lists = [
      ...window.oodometer.sides.shiftList(data, now.shift, change("shift")),
      window.oodometer.controls.choice("Model", [["", models]], now.model, change("model")),
      window.oodometer.controls.choice("Beside it", [["", [[-1, "no other"], ...models]]], now.other, change("other")),
    ];
    now.parts = window.oodometer.chooser(element, lists);
    show(element, data, now);
  };
})();
