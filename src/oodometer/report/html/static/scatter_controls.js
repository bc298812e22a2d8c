// What can be chosen of a scatter plot: the shift, both axes, the scale, intervals, names; and the keys to its lines.
"use strict";
(function () {
  const FEW_SHIFTS = 8; // up to which each has its button

  function grouped(items, group, option) {
    const groups = new Map();
    items.forEach(function (item, at) {
      const name = group(item);
      groups.set(name, [...(groups.get(name) || []), option(item, at)]);
    });
    return [...groups];
  }

  function shiftControls(data, state, change) {
    const { choice, buttons, button } = window.oodometer.controls;
    const make = window.oodometer.make;
    const now = data.shifts.findIndex((one) => one.x === state.x && one.y === state.y);
    const go = (at) => change({ x: data.shifts[at].x, y: data.shifts[at].y });
    if (!data.shifts.length) {
      return [];
    }
    if (data.shifts.length <= FEW_SHIFTS) {
      return [buttons("Shift", data.shifts.map((one, at) => [at, one.name]), now, go)];
    }
    const groups = grouped(data.shifts, (one) => one.kind, (one, at) => [at, one.name]);
    const list = choice("Shift", now < 0 ? [["", [["-1", "none: a pair of your own"]]], ...groups] : groups, now, (at) => Number(at) >= 0 && go(Number(at)));
    const n = data.shifts.length;
    const step = (by) => go(((now < 0 ? (by > 0 ? -1 : 0) : now) + by + n) % n);
    return [
      make(
        "div",
        { className: "stepped" },
        list,
        button("‹", () => step(-1), { "aria-label": "Previous shift", className: "step" }),
        button("›", () => step(1), { "aria-label": "Next shift", className: "step" }),
      ),
    ];
  }

  function axisControls(data, state, change) {
    const { choice } = window.oodometer.controls;
    const groups = grouped(data.columns, (one) => one.group, (one, at) => [at, one.name]);
    return [
      choice("Horizontal axis", groups, state.x, (at) => change({ x: Number(at) })),
      choice("Vertical axis", groups, state.y, (at) => change({ y: Number(at) })),
    ];
  }

  function scaleControl(state, change) {
    const { buttons } = window.oodometer.controls;
    return buttons("Scale", window.oodometer.scales.names.map((name) => [name, name]), state.scale, (scale) => change({ scale: scale }));
  }

  // The shift and what one looks for are at hand; axes of one's own and the scale are folded, for the plot's sake.
  function controlsOf(data, state, change) {
    const { check, field, more } = window.oodometer.controls;
    return [
      ...shiftControls(data, state, change),
      field("Find models", state.find, (find) => change({ find: find })),
      check("Intervals", state.bars, (bars) => change({ bars: bars })),
      more("Axes and scale", state, [...axisControls(data, state, change), scaleControl(state, change)]),
    ];
  }

  // Keys to the lines; the categories have theirs in the legend.
  function keys(view) {
    const make = window.oodometer.make;
    const { line } = view.pair;
    const one = (kind, text) => make("span", { className: "key" }, make("i", { className: kind, "aria-hidden": "true" }), text);
    const level = Math.round(1000 * view.data.level) / 10;
    const thin = line && window.oodometer.scatter.isThin(line);
    const said = `the line${thin ? ` through ${line.n} models only` : ""}, with its ${level} % band`;
    const drawn = line && line.band.length ? [one(thin ? "solid thin" : "solid", said)] : [];
    const knee = line && line.knee !== null ? [one("dotted", "the knee")] : [];
    const { x, y } = view.ranges;
    const where = y[1] < x[0] ? " (above this view)" : y[0] > x[1] ? " (below this view)" : "";
    return make("div", { className: "keys" }, one("dashed", `y = x: nothing lost${where}`), ...drawn, ...knee);
  }

  Object.assign(window.oodometer.scatter, { controlsOf: controlsOf, keys: keys });
})();
