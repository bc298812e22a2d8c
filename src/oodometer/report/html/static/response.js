// Accuracy among the most confident images, on both sides of a shift: all models, one of them in front.
"use strict";
(function () {
  function places(narrow, n, width) {
    if (n === 1) {
      return [{ x: [0, 1], y: [0, 0.9] }];
    }
    return narrow
      ? [
          { x: [0, 1], y: [0.58, 0.95] },
          { x: [0, 1], y: [0, 0.37] },
        ]
      : window.oodometer.sides.halves(width).map((x) => ({ x: x, y: [0, 0.88] }));
  }

  function axes(at) {
    const end = at ? String(at + 1) : "";
    return { xaxis: `x${end}`, yaxis: `y${end}` };
  }

  function layoutOf(sides, narrow, width) {
    /** @type {any} */
    const layout = { showlegend: false, margin: { l: 60, r: 16, t: 28, b: 48 }, annotations: [] };
    places(narrow, sides.length, width).forEach(function (place, at) {
      const end = at ? String(at + 1) : "";
      layout[`xaxis${end}`] = {
        domain: place.x,
        anchor: `y${end}`,
        range: [0, 1.02],
        tickformat: ".0%",
        dtick: 0.2,
        title: "images answered",
        fixedrange: true,
        zeroline: false,
      };
      layout[`yaxis${end}`] = {
        domain: place.y,
        anchor: `x${end}`,
        range: [0, 1.03],
        tickformat: ".0%",
        dtick: 0.2,
        title: { text: "accuracy among them", standoff: 10 },
        fixedrange: true,
        zeroline: false,
      };
      layout.annotations.push(window.oodometer.sides.heading(place.x[0], place.y[1], sides[at].text));
    });
    return layout;
  }

  function band(curve, at, colour) {
    const known = curve.filter((point) => point[2] !== null);
    const back = known.slice().reverse();
    return Object.assign(axes(at), {
      type: "scatter",
      mode: "lines",
      x: known.concat(back).map((point) => point[0]),
      y: known.map((point) => point[2]).concat(back.map((point) => point[3])),
      fill: "toself",
      fillcolor: window.oodometer.marks.tinted(colour, 0.18),
      line: { width: 0 },
      hoverinfo: "skip",
    });
  }

  function line(model, answers, at, front) {
    const look = window.oodometer.look(model.category);
    const told = answers.curve.map(
      (point) =>
        `<b>${window.oodometer.labels.plain(model.name)}</b><br>${window.oodometer.numbers.percent(point[0])} % answered<br>` +
        `${window.oodometer.numbers.estimate(point.slice(1, 4))} right`,
    );
    return Object.assign(axes(at), {
      type: "scatter",
      mode: front ? "lines+markers" : "lines",
      x: answers.curve.map((point) => point[0]),
      y: answers.curve.map((point) => point[1]),
      line: { color: front ? look.colour : window.oodometer.theme.soft, width: front ? 3 : 1 },
      opacity: front ? 1 : 0.55,
      marker: { symbol: look.symbol, size: 7, color: look.colour },
      text: told,
      hovertemplate: "%{text}<extra></extra>",
    });
  }

  function sideOf(data, now, at, name, narrow) {
    const of = (model) => window.oodometer.sides.answers(data, now.shift, model, at);
    const traces = [];
    data.models.forEach(function (model, place) {
      const answers = of(place);
      if (answers && place !== now.model) {
        traces.push(line(model, answers, at, false));
      }
    });
    const mine = of(now.model);
    const model = data.models[now.model];
    if (mine) {
      traces.push(band(mine.curve, at, window.oodometer.look(model.category).colour), line(model, mine, at, true));
    }
    const title = window.oodometer.sides.title(name, narrow);
    const told = mine
      ? `AURRA ${window.oodometer.numbers.estimate(mine.aurra)}, ${window.oodometer.numbers.count(mine.n)} images`
      : "this model was not run on it";
    const colour = window.oodometer.look(model.category).colour;
    return { traces: traces, text: `${title}<br><span style="color:${colour};font-size:12px">${told}</span>` };
  }

  function show(element, data, now) {
    const narrow = window.oodometer.sides.isNarrow(element);
    const names = window.oodometer.sides.names(data.shifts[now.shift]);
    const sides = names.map((name, at) => sideOf(data, now, at, name, narrow));
    const drawing = now.parts.drawing;
    drawing.style.height = narrow && sides.length > 1 ? "760px" : "420px";
    window.oodometer.plot(drawing, sides.flatMap((side) => side.traces), layoutOf(sides, narrow, element.clientWidth));
  }

  window.oodometer.draw.response = function (element, data) {
    const now = window.oodometer.chosen(element, { shift: 0, model: 0 });
    const change = window.oodometer.changing(now, () => show(element, data, now));
    const models = data.models.map((model, at) => [at, model.name]);
    const lists = [
      ...window.oodometer.sides.shiftList(data, now.shift, change("shift")),
      window.oodometer.controls.choice("Model in front", [["", models]], now.model, change("model")),
    ];
    now.parts = window.oodometer.chooser(element, lists);
    show(element, data, now);
  };
})();
