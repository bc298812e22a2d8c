// What is chosen above a plot, which stays when the plot is drawn anew; and the places of lists, plot and words.
"use strict";
(function () {
  const kept = new WeakMap();

  // What is chosen for this element: as it was, or as given.
  function chosen(element, first) {
    if (!kept.has(element)) {
      kept.set(element, Object.assign({}, first));
    }
    return kept.get(element);
  }

  // The row of lists, a place for the plot below it, and one for words and tables below that.
  function chooser(element, choices) {
    const make = window.oodometer.make;
    const drawing = make("div", {});
    const below = make("div", {});
    element.append(make("div", { className: "controls" }, ...choices), drawing, below);
    return { drawing: drawing, below: below };
  }

  // The numbers of what is drawn, below it; a table that is made when it is opened.
  function folded(element, caption, columns, rows) {
    const make = window.oodometer.make;
    const place = make("div", {});
    const details = make("details", { className: "numbers" }, make("summary", {}, caption), place);
    details.addEventListener("toggle", function () {
      if (details.open && !place.hasChildNodes()) {
        window.oodometer.table(place, columns, rows, { caption: caption });
      }
    });
    element.append(details);
  }

  // Where two plots lie side by side, with room between them for what is written at the second one's axis.
  function halves(width) {
    const half = (1 - Math.max(0.06, 84 / width)) / 2;
    return [
      [0, half],
      [1 - half, 1],
    ];
  }

  // ``[value, low, high]`` as 12.3 % [10.1, 14.5].
  function estimate(given) {
    const { percent, interval } = window.oodometer.numbers;
    return `${percent(given[0])} % ${interval(given[1], given[2], percent)}`.trim();
  }

  Object.assign(window.oodometer, { chosen: chosen, chooser: chooser, folded: folded, halves: halves, estimate: estimate });
})();
