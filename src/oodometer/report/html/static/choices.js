// Lists to choose from above a plot; what was chosen stays when the plot is drawn anew.
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

  // A list with its label; ``options`` are pairs of value and text.
  function choice(label, options, value, change) {
    const around = document.createElement("label");
    around.append(label, " ");
    const select = document.createElement("select");
    for (const [one, text] of options) {
      const option = document.createElement("option");
      option.value = String(one);
      option.textContent = text;
      select.append(option);
    }
    select.value = String(value);
    select.addEventListener("change", () => change(select.value));
    around.append(select);
    return around;
  }

  // The row of lists, a place for the plot below it, and one for words and tables below that.
  function chooser(element, choices) {
    const row = document.createElement("div");
    row.className = "controls";
    row.append(...choices);
    const drawing = document.createElement("div");
    const below = document.createElement("div");
    element.append(row, drawing, below);
    return { row: row, drawing: drawing, below: below };
  }

  function percent(share) {
    return (100 * share).toFixed(1);
  }

  // ``[value, low, high]`` as 12.3 % [10.1, 14.5].
  function interval(estimate) {
    const ends = estimate[1] === null ? "" : ` [${percent(estimate[1])}, ${percent(estimate[2])}]`;
    return `${percent(estimate[0])} %${ends}`;
  }

  // A long name with its middle left out.
  function shortened(text, most) {
    const half = Math.floor((most - 1) / 2);
    return text.length <= most ? text : `${text.slice(0, half)}…${text.slice(-half)}`;
  }

  // Plotly reads some HTML in its texts: what comes from a store is text and nothing else.
  function plain(text) {
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  }

  Object.assign(window.oodometer, {
    chosen: chosen,
    choice: choice,
    chooser: chooser,
    percent: percent,
    interval: interval,
    shortened: shortened,
    plain: plain,
  });
})();
