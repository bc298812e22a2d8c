// Scores of images of no class against images of the classes.
"use strict";
(function () {
  const INSIDE = { colour: "#0072b2", dark: "#56b4e9" };
  const OUTSIDE = { colour: "#b35900", dark: "#e69f00" };

  function colourOf(look) {
    return window.oodometer.theme.dark ? look.dark : look.colour;
  }

  function total(counts) {
    return counts.reduce((sum, one) => sum + one, 0);
  }

  // Images of one kind as shares, so that a large set and a small one can be told apart by their shapes.
  function bars(histogram, kind, name, look) {
    const counts = histogram[kind];
    const n = total(counts);
    const edges = histogram.edges;
    const outside = kind === "outside";
    return {
      type: "bar",
      name: `${window.oodometer.labels.plain(window.oodometer.labels.short(name, 40))} (${window.oodometer.numbers.count(n)})`,
      x: counts.map((_, at) => (edges[at] + edges[at + 1]) / 2),
      y: counts.map((one) => one / n),
      width: counts.map((_, at) => edges[at + 1] - edges[at]),
      marker: {
        color: window.oodometer.marks.tinted(colourOf(look), outside ? 0.25 : 0.5),
        line: { color: colourOf(look), width: 1 },
        pattern: outside ? { shape: "/", size: 7, solidity: 0.25, fillmode: "overlay", fgcolor: colourOf(look) } : {},
      },
      text: counts.map(
        (one, at) =>
          `${edges[at].toPrecision(3)} to ${edges[at + 1].toPrecision(3)}<br>` +
          `${window.oodometer.numbers.percent(one / n)} %: ${window.oodometer.numbers.count(one)} of ${window.oodometer.numbers.count(n)} images`,
      ),
      textposition: "none",
      hovertemplate: `<b>${outside ? "outside" : "inside"}</b><br>%{text}<extra></extra>`,
    };
  }

  const COLUMNS = [
    { title: "from", unit: "number", digits: 3 },
    { title: "to", unit: "number", digits: 3 },
    { title: "inside", unit: "count", digits: 0, about: "Images of the classes" },
    { title: "outside", unit: "count", digits: 0, about: "Images of no class" },
  ];

  function rowsOf(histogram) {
    const edges = histogram.edges;
    return histogram.inside.map((one, at) => [edges[at], edges[at + 1], one, histogram.outside[at]]);
  }

  function told(found, score, histogram) {
    const [inside, outside] = [total(histogram.inside), total(histogram.outside)];
    const chance = ` (by chance ${window.oodometer.numbers.percent(outside / (inside + outside))} %)`;
    const of = (measure) => found.measures[`${measure}[${score.name}]`];
    return ["AUROC", "AUPR"]
      .map((name) => [name, of(name.toLowerCase())])
      .filter(([, estimate]) => estimate)
      .map(([name, estimate]) => `${name} ${window.oodometer.numbers.estimate(estimate)}${name === "AUPR" ? chance : ""}`)
      .join(" · ");
  }

  function show(element, data, now) {
    const found = data.found[now.found];
    const score = data.scores[now.score];
    const histogram = found.histograms[score.name];
    const traces = [
      bars(histogram, "inside", `inside: ${found.inside}`, INSIDE),
      bars(histogram, "outside", `outside: ${found.condition}`, OUTSIDE),
    ];
    const drawing = now.parts.drawing;
    drawing.style.height = "380px";
    const line = window.oodometer.make("p", { style: "margin: 0 0.6rem 0.6rem" }, told(found, score, histogram));
    const caption = "The numbers of these bars.";
    const numbers = () => ({ columns: COLUMNS, rows: rowsOf(histogram), options: { caption: caption } });
    now.parts.below.replaceChildren(line, window.oodometer.controls.folded(caption, now, numbers));
    window.oodometer.plot(drawing, traces, {
      barmode: "overlay",
      bargap: 0,
      xaxis: { title: `${score.words} (${score.outside}: outside)`, fixedrange: true, zeroline: false },
      yaxis: { title: "share of the images", tickformat: ".0%", fixedrange: true, rangemode: "tozero" },
    });
  }

  window.oodometer.draw.ood_histogram = function (element, data) {
    const now = window.oodometer.chosen(element, { found: 0, score: 0 });
    const change = window.oodometer.changing(now, () => show(element, data, now));
    const several = new Set(data.found.map((one) => one.condition)).size > 1;
    const models = data.found.map((one, at) => [at, several ? `${one.model} on ${one.condition}` : one.model]);
    now.parts = window.oodometer.chooser(element, [
      window.oodometer.controls.choice("Model", [["", models]], now.found, change("found")),
      window.oodometer.controls.choice(
        "Score",
        [["", data.scores.map((score, at) => [at, score.name])]],
        now.score,
        change("score"),
      ),
    ]);
    show(element, data, now);
  };
})();
