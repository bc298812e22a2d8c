// What is chosen above a plot, which stays when the plot is drawn anew; and the places of lists, plot and what is below.
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

  // For lists of numbers: changing(now, again)("model") hears what is chosen, keeps it as now.model, and draws again.
  const changing = (now, again) => (what) => function (value) {
    now[what] = Number(value);
    again();
  };

  // The row of lists, a place for the plot below it, and one for words and tables below that.
  function chooser(element, choices) {
    const make = window.oodometer.make;
    const drawing = make("div", {});
    const below = make("div", {});
    element.append(make("div", { className: "controls" }, ...choices), drawing, below);
    return { drawing: drawing, below: below };
  }

  Object.assign(window.oodometer, { chosen: chosen, changing: changing, chooser: chooser });
})();
