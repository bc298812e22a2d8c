// What is said below a scatter plot: of the line, of the best models, what to beware of; and the table of its numbers.
"use strict";
(function () {
  const RHO = "Effective robustness: accuracy minus what the line expects at the model's accuracy on the horizontal axis, in points.";
  const IN_LINE = "Whether the line goes through the model; its ρ is then closer to 0 than it would be otherwise.";

  const FEW_IN_LINE = 5; // through fewer models a line is a guess

  const isThin = (line) => line.n < FEW_IN_LINE;

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
    const who = data.baselineCategory ? ` of category ${window.oodometer.spaced(data.baselineCategory)}` : "";
    const lost = line.leftOut ? ` (${line.leftOut} more at exactly 0 or 100 % left out)` : "";
    const through = `through ${line.n} models${who}${lost}, R² = ${number(line.r2, 2)} on the ${line.scale} scale`;
    if (line.kind === "plane") {
      return `What to expect is a plane over several clean sets (${[pair.x.name, ...pair.shift.others].join(", ")}), ${through}; it is no line in this picture, and ρ is measured from the plane.`;
    }
    if (line.kind === "two lines") {
      return `Two lines that change over at a knee of ${percent(line.knee)}\u00a0%: below it ${slopeWords(line.pieces[0])}, above it ${slopeWords(line.pieces[1])}; ${through}.`;
    }
    const thin = isThin(line) ? " It is grey: through fewer than five models, where it lies is hardly known." : "";
    return `The line has ${slopeWords(line.pieces[0])}, ${through}.${thin}`;
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
    const edge = shown.filter((at) => window.oodometer.scatter.atEdge(view, at));
    if (edge.length) {
      const them = edge.length === 1 ? "1 model is" : `${edge.length} models are`;
      notes.push(`${them} at exactly 0 or 100 %, which has no place on a ${state.scale} axis: drawn open, on the edge.`);
    }
    if (pair.made && pair.line) {
      notes.push("This pair is no shift of the study: its line and band were made in this page, from the same kind of models on the same scale. Both the band and the interval of the slope are over models alone, not over images; ρ has no interval here.");
    }
    const kinds = [...new Set([pair.x.interval, pair.y.interval])].filter(Boolean);
    notes.push(`Intervals of accuracies: ${kinds.join("; ")}.`);
    return notes;
  }

  function wordsBelow(view) {
    const make = window.oodometer.make;
    const n = view.pair.models.length;
    const some = view.shown.length === n ? `${n} models are drawn.` : `${view.shown.length} of ${n} models are drawn.`;
    const found = view.found ? ` ${view.shown.filter((at) => view.found.has(at)).length} of them fit “${view.state.find}”.` : "";
    const said = make("p", { role: "status" }, [lineWords(view), some + found, bestWords(view)].filter(Boolean).join(" "));
    const notes = notesOf(view).map((one) => make("p", { className: "small" }, one));
    return [said, ...notes];
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

  function tableOf(view) {
    const { pair } = view;
    const columns = [
      { title: "model", unit: "text" },
      { title: "category", unit: "text" },
      { title: pair.x.name, unit: "percent", better: "high" },
      { title: pair.y.name, unit: "percent", better: "high" },
      { title: "ρ", unit: "points", better: "high", about: RHO },
      { title: "in the line", unit: "text", about: IN_LINE },
    ];
    const options = { caption: `${pair.y.name} against ${pair.x.name}`, filters: "category", name: "scatter" };
    return { columns: columns, rows: tableRows(view), options: options };
  }

  Object.assign(window.oodometer.scatter, { isThin: isThin, lineWords: lineWords, wordsBelow: wordsBelow, tableOf: tableOf });
})();
