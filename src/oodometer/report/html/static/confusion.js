// Whose classes lead where: a map of true classes by answers, the same as a list, the images behind a confusion, and
// what a shift does to each class.
"use strict";
(function () {
  const MOST_ROWS = 12; // true classes, and as many answers, where there are too many for all
  const UPRIGHT = 6; // columns beyond which their names stand upright
  const RIGHT = -1; // in place of an answer: the class itself

  // ---- what is shown, without the page ----

  const isRight = (pair) => pair[0] === pair[1];

  // Keys by what they count, the most first; of equals the first.
  function byCount(entries) {
    const sums = new Map();
    entries.forEach(([key, n]) => sums.set(key, (sums.get(key) || 0) + n));
    return [...sums].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  }

  // The rows and columns of the map, as places of names: all of a small one, of a large one where most is confused.
  function axesOf(view) {
    const wrong = view.pairs.filter((pair) => !isRight(pair));
    if (view.whole) {
      const truths = new Set(view.pairs.map((pair) => pair[0]));
      return { rows: view.classes.filter((place) => truths.has(place)), columns: view.classes };
    }
    const rows = byCount(wrong.map(([truth, , n]) => [truth, n])).slice(0, MOST_ROWS);
    const within = wrong.filter((pair) => rows.includes(pair[0]));
    return { rows: rows, columns: [RIGHT, ...byCount(within.map(([, answer, n]) => [answer, n])).slice(0, MOST_ROWS)] };
  }

  function pairAt(view, truth, answer) {
    return view.pairs.find((pair) => pair[0] === truth && pair[1] === (answer === RIGHT ? truth : answer)) || null;
  }

  // What is said about a pair: how often, which share, of how many.
  function told(view, pair) {
    const { estimate, count } = window.oodometer.numbers;
    const [, , n, share] = pair;
    const times = view.conditions > 1 ? `${count(n)} answers in ${view.conditions} conditions` : `${count(n)} of ${count(share[3])} images`;
    return [times, `${estimate(share)} of the class`, ...(view.conditions > 1 ? [`n = ${count(share[3])} images`] : [])];
  }

  function confusionRows(data, view) {
    return view.pairs
      .filter((pair) => !isRight(pair))
      .map(([truth, answer, n, share]) => [data.names[truth], data.names[answer], n, share, share[3]])
      .sort((a, b) => b[2] - a[2]);
  }

  function changeRows(data, view) {
    return view.changes.map(([name, clean, shifted, change]) => [data.names[name], clean, shifted, change, clean[3], shifted[3]]);
  }

  const CONFUSIONS = [
    { title: "class", unit: "text", about: "The true one." },
    { title: "called", unit: "text", about: "What the model says instead." },
    { title: "count", unit: "count", digits: 0, about: "How often; under several conditions each counts." },
    { title: "share", unit: "percent", digits: 1, bar: true, about: "Of the images of the true class. Each interval is for itself." },
    { title: "images", unit: "count", digits: 0, about: "Of the true class." },
  ];
  const changeColumns = (n) => [
    { title: "class", unit: "text" },
    { title: "clean", unit: "percent", digits: 1, about: "Accuracy on the clean images of this class." },
    { title: "shifted", unit: "percent", digits: 1, about: "Accuracy on the shifted ones." },
    { title: "change", unit: "points", digits: 1, bar: true, better: "low", about: `Shifted minus clean. Its interval is corrected for ${n} classes (Bonferroni).` },
    { title: "clean images", unit: "count", digits: 0 },
    { title: "shifted images", unit: "count", digits: 0 },
  ];

  function summary(data, now, view) {
    const { count, percent } = window.oodometer.numbers;
    const shown = view.pairs.filter((pair) => !isRight(pair)).length;
    const some = shown < view.confused ? ` The first ${count(shown)} of ${count(view.confused)} kinds of confusions are here.` : "";
    return `${data.models[now.model]} on ${data.subjects[now.subject]}: ${percent(view.right / view.answers)} % of ${count(view.answers)} answers are right.${some}`;
  }

  // ---- drawing ----

  function heat(place, data, view) {
    const { rows, columns } = axesOf(view);
    // What is right has a column of its own, where the answers are not all there.
    const at = (truth, answer) => (truth === answer && !view.whole ? null : pairAt(view, truth, answer));
    const titled = columns.map((answer) => ({ title: answer === RIGHT ? "right" : data.names[answer], group: "" }));
    const lines = rows.map((truth) => ({
      title: data.names[truth],
      cells: columns.map(function (answer) {
        const pair = at(truth, answer);
        const text = pair && window.oodometer.numbers.percent(pair[3][0]);
        return pair && { text: text, place: pair[3][0], lines: told(view, pair), strong: isRight(pair) };
      }),
    }));
    window.oodometer.heatlegend(place, "0", "100 %", "share of the true class", false);
    window.oodometer.heatgrid(place, titled, lines, {
      caption: `True classes by answers, ${rows.length} by ${columns.length}`,
      corner: "class",
      nothing: "Nothing is confused.",
      dense: rows.length > 12,
      upright: columns.length > UPRIGHT,
    });
    return (cell) => at(rows[cell.parentElement.sectionRowIndex], columns[cell.cellIndex - 1]);
  }

  function picture([id, condition, address], view) {
    const make = window.oodometer.make;
    const lines = [id, ...(view.conditions > 1 ? [condition] : [])].map((line) => make("span", {}, line));
    return make("li", {}, ...(address ? [make("img", { src: address, alt: id, decoding: "async" })] : []), ...lines);
  }

  // The images behind a pair, as far as the page has them.
  function behind(place, data, view, pair) {
    const make = window.oodometer.make;
    const images = pair[4].map((at) => data.images[at]);
    const called = isRight(pair) ? "is called so" : `called ${data.names[pair[1]]}`;
    const some = images.length ? `; ${images.length === 1 ? "one image" : `${images.length} images`} behind it` : "; no images of it are on this page";
    const words = make("p", { role: "status" }, make("b", {}, `${data.names[pair[0]]} ${called}`), `: ${told(view, pair).join(", ")}${some}.`);
    place.replaceChildren(words, make("div", { className: "pictures" }, make("ul", {}, ...images.map((image) => picture(image, view)))));
    window.oodometer.reachable(place);
  }

  // A cell of the map or a row of the list is chosen by a click, or by Enter.
  function choosing(element, selector, pairOf, choose) {
    const hear = function (event) {
      const target = event.target.closest(selector);
      const pair = target && pairOf(target);
      if (pair) {
        choose(pair);
      }
    };
    element.addEventListener("click", hear);
    element.addEventListener("keydown", (event) => event.key === "Enter" && hear(event));
  }

  function pairOfRow(data, view, row) {
    const [truth, answer] = [...row.cells].map((cell) => data.names.indexOf(cell.textContent));
    return pairAt(view, truth, answer);
  }

  function show(data, now) {
    const make = window.oodometer.make;
    const view = data.views[now.model][now.subject];
    const { drawing, below } = now.parts;
    drawing.replaceChildren();
    below.replaceChildren();
    if (!view) {
      drawing.append(make("p", { className: "nothing" }, `${data.models[now.model]} was not run on ${data.subjects[now.subject]}.`));
      return;
    }
    const pairOf = heat(drawing, data, view);
    const panel = make("div", { className: "behind" });
    const choose = (pair) => behind(panel, data, view, pair);
    choosing(drawing.querySelector(".heatgrid"), "tbody td", pairOf, choose);
    const { folded } = window.oodometer.controls;
    const list = folded("All confusions as a list", now.list, () => ({
      columns: CONFUSIONS,
      rows: confusionRows(data, view),
      options: { caption: "A row that is clicked shows images behind it.", name: "confusions" },
    }));
    choosing(list, "tbody tr", (row) => pairOfRow(data, view, row), choose);
    below.append(panel, make("p", { className: "small" }, summary(data, now, view)), list);
    if (view.changes) {
      const n = window.oodometer.numbers.count(view.n_changes);
      const some = view.changes.length < view.n_changes ? `The ${view.changes.length} classes that lose most, of ${n}.` : `All ${n} classes.`;
      const pairs = view.paired ? "The same images on both sides." : "Other images on each side.";
      const numbers = () => ({
        columns: changeColumns(n),
        rows: changeRows(data, view),
        options: { caption: `${some} ${pairs}`, order: "The greatest loss first.", name: "class-changes" },
      });
      below.append(folded("What the shift does to each class", now.changes, numbers));
    }
    const first = view.pairs.filter((pair) => !isRight(pair) && pair[4].length).sort((a, b) => b[2] - a[2])[0];
    if (first) {
      choose(first);
    }
  }

  window.oodometer.draw.confusion = function (element, data) {
    const first = { model: 0, subject: data.subjects.length > 1 ? 1 : 0, list: {}, changes: {} };
    const now = window.oodometer.chosen(element, first);
    const change = window.oodometer.changing(now, () => show(data, now));
    const listed = (names) => [["", names.map((name, at) => [at, name])]];
    element.replaceChildren();
    now.parts = window.oodometer.chooser(element, [
      window.oodometer.controls.choice("Model", listed(data.models), now.model, change("model")),
      window.oodometer.controls.choice("On", listed(data.subjects), now.subject, change("subject")),
    ]);
    now.parts.below.className = "below";
    show(data, now);
  };
  window.oodometer.confusions = { axesOf: axesOf, pairAt: pairAt, byCount: byCount, confusionRows: confusionRows, changeRows: changeRows };
})();
