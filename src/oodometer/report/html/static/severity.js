// Accuracy from clean to the strongest corruption, a line for each model.
"use strict";
(function () {
  const MOST = 12; // models that are all shown; of more, the best five and the worst
  const FEW_BANDS = 3;
  const COLOURS = {
    light: ["#0072b2", "#b35900", "#00795a", "#8b2f6b", "#5b5b00", "#a3341c", "#4b3f9e", "#444444"],
    dark: ["#56b4e9", "#e69f00", "#20c997", "#cc79a7", "#f0e442", "#ff8a65", "#a99cf0", "#bbbbbb"],
  };
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const SYMBOLS = ["circle", "diamond", "square", "x", "triangle-up", "cross", "star", "triangle-down"];

  function familiesOf(data) {
    const figure = document.getElementById(data.of);
    return JSON.parse(figure.querySelector("script[type='application/json']").textContent).families;
  }

  function firstModels(family) {
    const all = family.models.map((_, at) => at);
    return all.length <= MOST ? all : [...all.slice(0, 5), all.length - 1];
  }

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

  function told(family, name, severity, numbers) {
    const where = severity === 0 ? family.clean_name || "clean" : `severity ${severity}`;
    const n = numbers.length > 3 ? numbers[3] : family.n;
    const images = n === null || n === undefined ? "" : `<br>n = ${n.toLocaleString("en")}`;
    const spread = numbers.length > 1 ? numbers : [numbers[0], null, null];
    const { plain, interval } = window.oodometer;
    return `<b>${plain(name)}</b><br>${plain(where)}: ${interval(spread)}${images}`;
  }

  function line(family, model, place, corruption) {
    const known = points(family, model, corruption);
    const now = look(place);
    const name = family.models[model];
    return {
      type: "scatter",
      mode: "lines+markers",
      name: window.oodometer.plain(window.oodometer.shortened(name, 40)),
      x: known.map(([severity]) => severity),
      y: known.map(([, one]) => 100 * one[0]),
      line: { color: now.colour, dash: now.dash, width: 2 },
      marker: { color: now.colour, symbol: now.symbol, size: 8 },
      text: known.map(([severity, one]) => told(family, name, severity, one)),
      hovertemplate: "%{text}<extra></extra>",
      meta: model,
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

  function show(places, family, now) {
    const chosen = now.models;
    const corruption = Number(now.corruption);
    const bands = chosen.map((model, at) => band(family, model, at, corruption, chosen.length <= FEW_BANDS));
    const lines = chosen.map((model, at) => line(family, model, at, corruption));
    const most = Math.max(...family.severities);
    const layout = {
      height: 420,
      hovermode: "closest",
      xaxis: {
        title: "severity",
        tickvals: [0, ...family.severities],
        ticktext: ["clean", ...family.severities.map(String)],
        range: [-0.2, most + 0.2],
        fixedrange: true,
        zeroline: false,
      },
      yaxis: { title: { text: "accuracy, %", standoff: 14 }, range: [0, 101], fixedrange: true, zeroline: false },
      legend: { orientation: "v", x: 1.02, xanchor: "left", y: 1, yanchor: "top", traceorder: "normal" },
    };
    if (places.drawing.clientWidth < 640) {
      layout.height = 420 + 22 * chosen.length;
      layout.legend = { orientation: "h", x: 0, xanchor: "left", y: -0.22, yanchor: "top" };
    }
    if (window.Plotly) {
      window.Plotly.purge(places.drawing);
    }
    window.oodometer.plot(places.drawing, [...bands, ...lines], layout);
    const count = chosen.length;
    if (count <= FEW_BANDS) {
      return;
    }
    const turn = (event, visible) => {
      const at = event.points[0].curveNumber - count;
      if (at >= 0) {
        window.Plotly.restyle(places.drawing, { visible: visible }, [at]);
      }
    };
    places.drawing.on("plotly_hover", (event) => turn(event, true));
    places.drawing.on("plotly_unhover", (event) => turn(event, false));
  }

  // A number with both ends and n, as tables want it.
  function whole(family, one) {
    return one && [one[0], one[1] ?? null, one[2] ?? null, one[3] ?? family.n];
  }

  function table(place, family, now) {
    const columns = [
      { title: "model", how: "text" },
      { title: "clean", how: "percent" },
      ...family.severities.map((one) => ({ title: `severity ${one}`, how: "percent" })),
    ];
    const corruption = Number(now.corruption);
    const rows = now.models.map((model) => [
      family.models[model],
      whole(family, family.clean[model]),
      ...family.severities.map((_, at) => whole(family, family.accuracy[model][corruption][at + 1])),
    ]);
    const details = document.createElement("details");
    details.className = "numbers";
    const summary = document.createElement("summary");
    summary.textContent = "The numbers of these lines";
    const inside = document.createElement("div");
    inside.className = "table";
    details.append(summary, inside);
    place.replaceChildren(details);
    details.addEventListener("toggle", function () {
      if (details.open && !inside.childElementCount) {
        window.oodometer.table(inside, columns, rows, { caption: "Accuracy by severity" });
      }
    });
  }

  // The models that are drawn, each with a button that takes it away, and a list to add others from.
  function models(family, now, change) {
    const around = document.createElement("div");
    around.className = "controls chosen";
    if (family.models.length <= MOST) {
      return around; // all are drawn, and the legend takes them away
    }
    const others = family.models.map((name, at) => [at, name]).filter(([at]) => !now.models.includes(at));
    if (others.length) {
      const list = [["", "add a model …"], ...others];
      const add = (value) => value !== "" && change([...now.models, Number(value)]);
      around.append(window.oodometer.choice("Models", list, "", add));
    }
    for (const model of now.models) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${window.oodometer.shortened(family.models[model], 40)} ×`;
      button.setAttribute("aria-label", `Take away ${family.models[model]}`);
      button.addEventListener("click", () => change(now.models.filter((one) => one !== model)));
      around.append(button);
    }
    return around;
  }

  window.oodometer.draw.severity = function (element, data) {
    const families = familiesOf(data);
    const now = window.oodometer.chosen(element, { family: "0", corruption: "0", models: firstModels(families[0]) });
    const family = families[Number(now.family)];
    const again = () => {
      element.replaceChildren();
      window.oodometer.draw.severity(element, data);
    };
    const controls = [];
    if (families.length > 1) {
      const titles = families.map((one, at) => [at, one.title]);
      controls.push(
        window.oodometer.choice("Family", titles, now.family, function (value) {
          const names = now.models.map((model) => family.models[model]);
          now.family = value;
          const next = families[Number(value)];
          const kept = names.map((name) => next.models.indexOf(name)).filter((at) => at >= 0);
          now.models = kept.length ? kept : firstModels(next);
          now.corruption = "0";
          again();
        }),
      );
    }
    const names = family.corruptions.map(([title], at) => [at + 1, title]);
    controls.push(
      window.oodometer.choice("Corruption", [[0, `mean of ${family.averaged}`], ...names], now.corruption, function (value) {
        now.corruption = value;
        again();
      }),
    );
    const places = window.oodometer.chooser(element, controls);
    places.row.after(
      models(family, now, function (chosen) {
        now.models = chosen.length ? chosen : firstModels(family);
        again();
      }),
    );
    show(places, family, now);
    table(places.below, family, now);
  };
})();
