// Accuracy from clean to the strongest corruption, a line for each model.
"use strict";
(function () {
  const MOST = 12; // models that are all shown; of more, the best five and the worst
  const FEW = 3; // models whose intervals are all shown
  const NARROW = 640;
  const LONGEST = 40;
  const COLOURS = {
    light: ["#0072b2", "#b35900", "#00795a", "#8b2f6b", "#5b5b00", "#a3341c", "#4b3f9e", "#444444"],
    dark: ["#56b4e9", "#e69f00", "#20c997", "#cc79a7", "#f0e442", "#ff8a65", "#a99cf0", "#bbbbbb"],
  };
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const SYMBOLS = ["circle", "diamond", "square", "x", "triangle-up", "cross", "star", "triangle-down"];

  function familiesOf(data) {
    return window.oodometer.dataIn(document.getElementById(data.of)).families;
  }

  function firstModels(family) {
    const all = family.models.map((_, at) => at);
    return all.length <= MOST ? all : [...all.slice(0, 5), all.length - 1];
  }

  // Severity and number, from the clean images on.
  function points(family, model, corruption) {
    const at = family.severities.map((one, place) => [one, family.accuracy[model][corruption][place + 1]]);
    return [[0, family.clean[model]], ...at].filter(([, one]) => one);
  }

  function look(place) {
    const colours = window.oodometer.theme.dark ? COLOURS.dark : COLOURS.light;
    const round = Math.floor(place / colours.length);
    return {
      colour: colours[place % colours.length],
      dash: DASHES[round % DASHES.length],
      symbol: SYMBOLS[(place + round) % SYMBOLS.length],
    };
  }

  function told(family, name, severity, given) {
    const plain = window.oodometer.labels.plain;
    const where = severity === 0 ? family.clean_name : `severity ${severity}`;
    const n = given[3] ?? family.n;
    const images = n === null ? "" : `<br>n = ${window.oodometer.numbers.count(n)}`;
    return `<b>${plain(name)}</b><br>${plain(where)}: ${window.oodometer.numbers.estimate(given)}${images}`;
  }

  function line(family, model, place, corruption) {
    const known = points(family, model, corruption);
    const now = look(place);
    const name = family.models[model];
    return {
      type: "scatter",
      mode: "lines+markers",
      name: window.oodometer.labels.plain(window.oodometer.labels.short(name, LONGEST)),
      x: known.map(([severity]) => severity),
      y: known.map(([, one]) => 100 * one[0]),
      line: { color: now.colour, dash: now.dash, width: 2 },
      marker: { color: now.colour, symbol: now.symbol, size: 8 },
      text: known.map(([severity, one]) => told(family, name, severity, one)),
      hovertemplate: "%{text}<extra></extra>",
    };
  }

  function band(family, model, place, corruption, visible) {
    const known = points(family, model, corruption).filter(([, one]) => one.length > 1 && one[1] !== null);
    const there = known.map(([severity]) => severity);
    const low = known.map(([, one]) => 100 * one[1]);
    const high = known.map(([, one]) => 100 * one[2]);
    return {
      type: "scatter",
      mode: "lines",
      x: [...there, ...there.slice().reverse()],
      y: [...high, ...low.slice().reverse()],
      fill: "toself",
      fillcolor: `${look(place).colour}33`,
      line: { width: 0 },
      hoverinfo: "skip",
      showlegend: false,
      visible: visible,
    };
  }

  function layoutOf(family, n, narrow) {
    const beside = { orientation: "v", x: 1.02, xanchor: "left", y: 1, yanchor: "top", traceorder: "normal" };
    const below = { orientation: "h", x: 0, xanchor: "left", y: -0.2, yanchor: "top" };
    return {
      height: narrow ? 400 + 24 * n : 420,
      hovermode: "closest",
      showlegend: true,
      xaxis: {
        title: "severity",
        tickvals: [0, ...family.severities],
        ticktext: ["clean", ...family.severities.map(String)],
        range: [-0.2, Math.max(...family.severities) + 0.2],
        fixedrange: true,
        zeroline: false,
      },
      yaxis: { title: { text: "accuracy, %", standoff: 14 }, range: [0, 101], fixedrange: true, zeroline: false },
      legend: narrow ? below : beside,
    };
  }

  // The band of a line shows while it is pointed at.
  function bandsOnHover(element, n) {
    const turn = (visible) => (event) => {
      const at = event.points[0].curveNumber - n;
      if (at >= 0) {
        window.Plotly.restyle(element, { visible: visible }, [at]);
      }
    };
    element.on("plotly_hover", turn(true));
    element.on("plotly_unhover", turn(false));
  }

  function show(element, family, now) {
    const corruption = Number(now.corruption);
    const few = now.models.length <= FEW;
    const bands = now.models.map((model, at) => band(family, model, at, corruption, few));
    const lines = now.models.map((model, at) => line(family, model, at, corruption));
    window.oodometer.plot(element, [...bands, ...lines], layoutOf(family, now.models.length, element.clientWidth < NARROW));
    if (!few) {
      bandsOnHover(element, now.models.length);
    }
  }

  // A number with both ends and n, as tables want it.
  function whole(family, one) {
    return one && [one[0], one[1] ?? null, one[2] ?? null, one[3] ?? family.n];
  }

  function tableOf(family, now) {
    const titles = ["clean", ...family.severities.map((one) => `severity ${one}`)];
    const corruption = Number(now.corruption);
    return {
      columns: [{ title: "model", unit: "text" }, ...titles.map((title) => ({ title: title, unit: "percent", better: "high" }))],
      rows: now.models.map((model) => [
        family.models[model],
        whole(family, family.clean[model]),
        ...family.severities.map((_, at) => whole(family, family.accuracy[model][corruption][at + 1])),
      ]),
      options: { caption: "Accuracy by severity" },
    };
  }

  // The models that are drawn, each with a button that takes it away, and a list to add others from.
  function models(family, now, change) {
    const { choice, button } = window.oodometer.controls;
    const make = window.oodometer.make;
    const others = family.models.map((name, at) => [at, name]).filter(([at]) => !now.models.includes(at));
    const add = (value) => value !== "" && change([...now.models, Number(value)]);
    const away = (model) => () => change(now.models.filter((one) => one !== model));
    return make(
      "div",
      { class: "controls chosen" },
      ...(others.length ? [choice("Models", [["", [["", "add one …"], ...others]]], "", add)] : []),
      ...now.models.map((model) =>
        button(make("span", {}, family.models[model]), away(model), { "aria-label": `Take away ${family.models[model]}` }),
      ),
    );
  }

  // The same models in another family, where they are known there.
  function moved(now, from, to) {
    const kept = now.models.map((model) => to.models.indexOf(from.models[model])).filter((at) => at >= 0);
    return kept.length ? kept : firstModels(to);
  }

  window.oodometer.draw.severity = function (element, data) {
    const families = familiesOf(data);
    const now = window.oodometer.chosen(element, { family: "0", corruption: "0", models: firstModels(families[0]) });
    const family = families[Number(now.family)];
    const change = function (what) {
      Object.assign(now, what);
      element.replaceChildren();
      window.oodometer.draw.severity(element, data);
    };
    const choice = window.oodometer.controls.choice;
    const other = (value) =>
      change({ family: value, corruption: "0", models: moved(now, family, families[Number(value)]) });
    const titles = families.map((one, at) => [at, one.title]);
    const names = family.corruptions.map(([title], at) => [at + 1, title]);
    const mean = family.averaged > 1 ? [[0, `mean of ${family.averaged}`]] : [];
    now.corruption = mean.length || now.corruption !== "0" ? now.corruption : "1";
    const all = [["", [...mean, ...names]]];
    const places = window.oodometer.chooser(element, [
      ...(titles.length > 1 ? [choice("Family", [["", titles]], now.family, other)] : []),
      choice("Corruption", all, now.corruption, (value) => change({ corruption: value })),
    ]);
    if (family.models.length > MOST) {
      const chosen = (some) => change({ models: some.length ? some : firstModels(family) });
      places.drawing.before(models(family, now, chosen));
    }
    show(places.drawing, family, now);
    places.below.append(window.oodometer.controls.folded("The numbers of these lines", now, () => tableOf(family, now)));
  };
})();
