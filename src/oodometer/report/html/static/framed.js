// A plot with controls and a legend above it, words and a table below; these stay while the plot is drawn anew.
"use strict";
(function () {
  // What was drawn last in each drawing: a click may come before the drawing of the one before is done.
  const latest = new WeakMap();

  // The places of all of it. They stay while choices change, so that the keyboard's focus does too.
  function frame(element) {
    const make = window.oodometer.make;
    const places = {
      controls: make("div", { className: "controls" }),
      legend: make("div", {}),
      plot: make("div", {}),
      words: make("div", { className: "below" }),
      table: make("div", {}),
    };
    element.replaceChildren(...Object.values(places));
    return places;
  }

  // Draws a plot, and then what fits what is seen of it (ticks, names), again after zooming and resizing:
  // changes(xaxis, yaxis) gives it, as plotly's relayout wants it.
  function plotRefined(place, traces, layout, changes) {
    const drawing = place.closest("[data-draw]");
    const refine = function () {
      const { xaxis, yaxis } = place._fullLayout;
      const seen = JSON.stringify([xaxis.range, yaxis.range, xaxis._length, yaxis._length]);
      if (seen !== place.dataset.seen) {
        place.dataset.seen = seen;
        window.Plotly.relayout(place, changes(xaxis, yaxis));
      }
    };
    latest.set(drawing, refine);
    delete place.dataset.seen;
    place.style.height = `${layout.height}px`;
    window.oodometer.plot(place, traces, layout).then(function () {
      if (latest.get(drawing) === refine) {
        refine();
        place.on("plotly_afterplot", refine);
      }
    });
  }

  Object.assign(window.oodometer, { frame: frame, plotRefined: plotRefined });
})();
