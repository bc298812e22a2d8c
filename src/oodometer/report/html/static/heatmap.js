// Models by corruptions: accuracies at a severity or on average, or corruption errors.
"use strict";
(function () {
  const FEW = 40; // models whose rows have room for air
  const MANY = 60; // models beyond which there is an overview
  const UPRIGHT = 8; // columns beyond which their names stand upright

  function levels(family) {
    const span = family.severities;
    const mean = span.length > 1 ? `mean of severities ${span[0]} to ${span[span.length - 1]}` : `severity ${span[0]}`;
    const each = span.length > 1 ? span.map((one, at) => [at + 1, `severity ${one}`]) : [];
    return [
      ["accuracy", [[0, mean], ...each]],
      ...(family.ce ? [["errors", [["ce", "corruption error, CE"]]]] : []),
    ];
  }

  // What a mean is over: all conditions, which is the accuracy under the shift; or, at one severity, the corruptions that
  // were shown at all severities.
  function meanOf(family, level) {
    const every = family.averaged === family.corruptions.length;
    return Number(level) || every ? `mean of ${family.averaged}` : `mean of ${family.conditions} conditions`;
  }

  // The columns that have a number, since CE is not defined for all corruptions; of a single one there is no mean.
  function columnsOf(family, numbers, level) {
    const mean = { title: level === "ce" ? "mCE" : meanOf(family, level), group: "" };
    const own = (title, at) => (level === "0" && onlySeverity(family, at + 1) ? `${title}, ${onlySeverity(family, at + 1)}` : title);
    return [mean, ...family.corruptions.map(([title, group], at) => ({ title: own(title, at), group: group }))]
      .map((column, at) => Object.assign(column, { at: at }))
      .filter((column) => numbers.some((of) => of[column.at]))
      .filter((column) => column.at > 0 || family.corruptions.length > 1);
  }

  // What a cell tells: the number, its interval, and of how many images.
  function told(family, given, isCe) {
    const { percent, count } = window.oodometer.numbers;
    const lines = [`${isCe ? "CE" : "accuracy"} ${percent(given[0])} %`];
    if (given.length > 1 && given[1] !== null) {
      lines.push(`interval ${percent(given[1])} to ${percent(given[2])} %`);
    }
    const n = given[3] ?? family.n;
    return n === null ? lines : [...lines, `n = ${count(n)}`];
  }

  function cellOf(family, given, isCe, ends) {
    return (
      given && {
        text: window.oodometer.numbers.percent(given[0]),
        place: (given[0] - ends[0]) / (ends[1] - ends[0] || 1),
        lines: told(family, given, isCe),
      }
    );
  }

  // The severity of a corruption that was shown at one of several: it has no mean over them, and stands with its own.
  function onlySeverity(family, corruption) {
    const at = family.severities.filter((_, place) => family.accuracy.some((of) => of[corruption][place + 1]));
    return family.severities.length > 1 && at.length === 1 ? at[0] : null;
  }

  function numbersOf(family, level) {
    const place = (corruption) => {
      const only = level === "0" && corruption > 0 ? onlySeverity(family, corruption) : null;
      return only === null ? Number(level) : family.severities.indexOf(only) + 1;
    };
    const places = level === "ce" ? [] : family.accuracy[0].map((_, corruption) => place(corruption));
    return level === "ce" ? family.ce : family.accuracy.map((of) => of.map((numbers, corruption) => numbers[places[corruption]]));
  }

  // Accuracies on one scale, whatever the severity: colours can be compared from one choice to the next.
  function endsOf(numbers, isCe) {
    const found = numbers.flat().filter(Boolean).map((one) => one[0]);
    return isCe ? [Math.min(...found), Math.max(...found)] : [0, 1];
  }

  // The best first; those without a mean last.
  function inOrder(numbers, isCe) {
    const first = (at) => (numbers[at][0] ? numbers[at][0][0] * (isCe ? 1 : -1) : Infinity);
    return numbers.map((_, at) => at).sort((a, b) => (first(a) === first(b) ? a - b : first(a) - first(b)));
  }

  function rowsOf(family, now, columns, cell) {
    const numbers = numbersOf(family, now.level);
    const words = now.find.toLowerCase().split(/\s+/).filter(Boolean);
    const about = (at) => `${family.models[at]} ${family.categories[at]}`.toLowerCase();
    return inOrder(numbers, now.level === "ce")
      .filter((at) => words.every((word) => about(at).includes(word)))
      .map((at) => ({
        title: family.models[at],
        cells: columns.map((column) => cell(numbers[at][column.at])),
      }));
  }

  function show(place, family, now) {
    place.replaceChildren();
    const isCe = now.level === "ce";
    const numbers = numbersOf(family, now.level);
    const ends = endsOf(numbers, isCe);
    const columns = columnsOf(family, numbers, now.level);
    const rows = rowsOf(family, now, columns, (one) => cellOf(family, one, isCe, ends));
    const [from, to] = ends.map((end) => window.oodometer.numbers.number(100 * end, 0));
    window.oodometer.heatlegend(place, from, `${to} %`, isCe ? "CE, less is better" : "accuracy", false);
    window.oodometer.heatgrid(place, columns, rows, {
      caption: `${isCe ? "CE" : "Accuracy"} of ${rows.length} models under ${columns.length - 1} corruptions, ${family.title}`,
      corner: "model",
      nothing: "No model has that in its name.",
      dense: rows.length > FEW,
      overview: now.overview && rows.length > MANY,
      upright: columns.length > UPRIGHT,
    });
  }

  window.oodometer.draw.heatmap = function (element, data) {
    const { choice, field, check } = window.oodometer.controls;
    const now = window.oodometer.chosen(element, { family: "0", level: "0", find: "", overview: false });
    const family = data.families[Number(now.family)];
    now.level = now.level === "ce" && !family.ce ? "0" : now.level;
    const change = (name) => (value) => {
      now[name] = value;
      show(places.drawing, family, now);
    };
    const other = function (value) {
      now.family = value;
      element.replaceChildren();
      window.oodometer.draw.heatmap(element, data);
    };
    const titles = data.families.map((one, at) => [at, one.title]);
    const places = window.oodometer.chooser(element, [
      ...(titles.length > 1 ? [choice("Family", [["", titles]], now.family, other)] : []),
      choice("Show", levels(family), now.level, change("level")),
      ...(family.models.length > 12 ? [field("Find a model", now.find, change("find"))] : []),
      ...(family.models.length > MANY ? [check("overview", now.overview, change("overview"))] : []),
    ]);
    show(places.drawing, family, now);
  };
})();
