// Accuracy under a shift against clean accuracy of every model, with the line that says what to expect: what is chosen,
// its address, and how the parts come together, which are in the files scatter_*.js.
"use strict";
(function () {
  const MANY = 60; // models from which on intervals are drawn only when asked for
  /** @type {any} */
  const scatter = {}; // the parts, by their names
  /** @type {any} */
  let kept = null; // what was chosen, while the plot is drawn anew

  // --- what is chosen, and its address --------------------------------------------------------------------------

  function firstChoice(data) {
    const shift = data.shifts.find((one) => one.line) || data.shifts[0];
    return {
      x: shift ? shift.x : 0,
      y: shift ? shift.y : Math.min(1, data.columns.length - 1),
      scale: data.scale,
      bars: data.models.length <= MANY,
      hidden: new Set(),
      find: "",
      open: false,
    };
  }

  function fromAddress(data, state) {
    const [name, query] = window.location.hash.split(/\?(.*)/s);
    if (name !== "#scatter" || query === undefined) {
      return state;
    }
    const given = new URLSearchParams(query);
    const column = (wanted, otherwise) => {
      const at = data.columns.findIndex((one) => one.name === wanted);
      return at < 0 ? otherwise : at;
    };
    return {
      ...state,
      x: column(given.get("x"), state.x),
      y: column(given.get("y"), state.y),
      scale: window.oodometer.scales.names.includes(given.get("scale")) ? given.get("scale") : state.scale,
      bars: given.has("bars") ? given.get("bars") === "1" : state.bars,
      hidden: new Set(given.getAll("hide").filter((one) => data.categories.includes(one))),
      find: given.get("find") || "",
    };
  }

  function toAddress(data, state) {
    const said = new URLSearchParams({
      x: data.columns[state.x].name,
      y: data.columns[state.y].name,
      scale: state.scale,
      bars: state.bars ? "1" : "0",
    });
    state.hidden.forEach((one) => said.append("hide", one));
    if (state.find) {
      said.set("find", state.find);
    }
    try {
      window.history.replaceState(null, "", `#scatter?${said}`);
    } catch {
      // a page that may not change its address, as inside some mail programs
    }
  }

  // --- all of it ------------------------------------------------------------------------------------------------

  function viewOf(data, state) {
    const pair = scatter.chosenPair(data, state.x, state.y);
    const name = (at) => data.categories[data.category[at]];
    const wanted = state.find.trim().toLowerCase();
    const view = {
      data: data,
      state: state,
      pair: pair,
      categories: data.categories
        .map((one) => [one, pair.models.filter((at) => name(at) === one).length])
        .filter(([, n]) => n > 0),
      shown: pair.models.filter((at) => !state.hidden.has(name(at))),
      found: wanted ? new Set(pair.models.filter((at) => data.models[at].toLowerCase().includes(wanted))) : null,
    };
    view.ranges = scatter.rangesOf(view);
    view.size = window.oodometer.marks.sizeFor(view.shown.length);
    return view;
  }

  function draw(element, data) {
    kept = kept || fromAddress(data, firstChoice(data));
    const places = window.oodometer.frame(element);
    const change = function (some) {
      Object.assign(kept, some);
      toAddress(data, kept);
      show(data, places, change, "find" in some);
    };
    show(data, places, change, false);
    listen(data, () => show(data, places, change, false));
  }

  function show(data, places, change, typing) {
    const { refill, legend, folded } = window.oodometer.controls;
    const view = viewOf(data, kept);
    if (!typing) {
      refill(places.controls, scatter.controlsOf(data, kept, change));
    }
    refill(places.legend, [legend(view.categories, kept.hidden, (hidden) => change({ hidden: hidden })), scatter.keys(view)]);
    scatter.drawPlot(view, places.plot);
    places.plot.setAttribute("aria-label", `${view.pair.y.name} against ${view.pair.x.name}, ${view.shown.length} models. ${scatter.lineWords(view)}`);
    places.words.replaceChildren(...scatter.wordsBelow(view));
    places.table.replaceChildren(folded("The numbers of what is chosen", kept, () => scatter.tableOf(view)));
  }

  let heard = () => {};
  function listen(data, again) {
    window.removeEventListener("hashchange", heard);
    heard = function () {
      if (window.location.hash.startsWith("#scatter?")) {
        kept = fromAddress(data, { ...firstChoice(data), open: kept.open, more: kept.more });
        again();
        scrollThere();
      }
    };
    window.addEventListener("hashchange", heard);
  }

  function scrollThere() {
    const heading = document.getElementById("scatter");
    if (heading && window.location.hash.startsWith("#scatter?")) {
      heading.scrollIntoView();
    }
  }

  window.oodometer.scatter = scatter;
  window.oodometer.draw.scatter = draw;
  document.addEventListener("DOMContentLoaded", scrollThere);
})();
