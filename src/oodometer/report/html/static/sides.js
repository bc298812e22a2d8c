// Plots of both sides of a shift, beside or below each other: whose answers they show, where they lie, what is said above.
"use strict";
(function () {
  const NARROW = 640; // pixels below which one side lies below the other

  function names(shift) {
    return shift.shifted === null ? [shift.clean] : [shift.clean, shift.shifted];
  }

  // What a model answered on a side, 0 or 1, of the chosen shift; null where it was not run.
  function answers(data, shift, model, side) {
    return data.answers[data.pairs[shift][model][side]] || null;
  }

  // Where two plots lie side by side, with room between them for what is written at the second one's axis.
  function halves(width) {
    const half = (1 - Math.max(0.06, 84 / width)) / 2;
    return [
      [0, half],
      [1 - half, 1],
    ];
  }

  const title = (name, narrow) => `<b>${window.oodometer.labels.plain(window.oodometer.labels.short(name, narrow ? 34 : 48))}</b>`;

  // Words that stand on the upper left corner of a plot.
  function heading(left, top, text) {
    return {
      xref: "paper",
      yref: "paper",
      x: left,
      y: top,
      xanchor: "left",
      yanchor: "bottom",
      align: "left",
      showarrow: false,
      text: text,
    };
  }

  // The list of shifts, where there are several.
  function shiftList(data, chosen, change) {
    const shifts = data.shifts.map((shift, at) => [at, shift.name]);
    return shifts.length > 1 ? [window.oodometer.controls.choice("Shift", [["", shifts]], chosen, change)] : [];
  }

  window.oodometer.sides = {
    isNarrow: (element) => element.clientWidth < NARROW,
    names: names,
    answers: answers,
    halves: halves,
    title: title,
    heading: heading,
    shiftList: shiftList,
  };
})();
