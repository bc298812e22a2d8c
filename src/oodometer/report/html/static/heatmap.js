// Models by corruptions: accuracies at a severity or in the mean, or corruption errors.
"use strict";
(function () {
  const FEW = 40; // models whose rows have room for air
  const MANY = 60; // models beyond which there is an overview

  function levels(family) {
    const span = family.severities;
    const of = span.length > 1 ? `mean of severities ${span[0]} to ${span[span.length - 1]}` : `severity ${span[0]}`;
    const each = span.length > 1 ? span.map((one, at) => [at + 1, `severity ${one}`]) : [];
    return [[0, of], ...each, ...(family.ce ? [["ce", "CE, the error by AlexNet's"]] : [])];
  }

  function columnsOf(family, isCe) {
    const mean = { title: isCe ? "mCE" : `mean of ${family.averaged}`, group: "" };
    return [mean, ...family.corruptions.map(([title, group]) => ({ title: title, group: group }))];
  }

  function told(family, numbers, isCe) {
    const percent = window.oodometer.percent;
    const lines = [`${isCe ? "CE" : "accuracy"} ${percent(numbers[0])} %`];
    if (numbers.length > 1 && numbers[1] !== null) {
      lines.push(`interval ${percent(numbers[1])} to ${percent(numbers[2])} %`);
    }
    const n = numbers.length > 3 ? numbers[3] : family.n;
    if (n !== null && n !== undefined) {
      lines.push(`n = ${n.toLocaleString("en")}`);
    }
    return lines;
  }

  function cellOf(family, numbers, isCe, ends) {
    if (!numbers) {
      return null;
    }
    const spread = ends[1] - ends[0] || 1;
    return {
      text: window.oodometer.percent(numbers[0]),
      place: (numbers[0] - ends[0]) / spread,
      lines: told(family, numbers, isCe),
    };
  }

  function numbersOf(family, level) {
    return level === "ce" ? family.ce : family.accuracy.map((of) => of.map((one) => one[Number(level)]));
  }

  function endsOf(numbers, isCe) {
    const found = numbers.flat().filter(Boolean).map((one) => one[0]);
    // Accuracies on one scale, whatever the severity: colours can be compared from one choice to the next.
    return isCe ? [Math.min(...found), Math.max(...found)] : [0, 1];
  }

  function rowsOf(family, now, isCe, ends) {
    const numbers = numbersOf(family, now.level);
    const wanted = now.find.trim().toLowerCase();
    const order = family.models.map((_, at) => at);
    const first = (at) => (numbers[at][0] ? numbers[at][0][0] : isCe ? Infinity : -Infinity);
    order.sort((a, b) => (isCe ? first(a) - first(b) : first(b) - first(a)) || a - b);
    return order
      .filter((at) => `${family.models[at]} ${family.categories[at]}`.toLowerCase().includes(wanted))
      .map((at) => ({
        title: family.models[at],
        cells: numbers[at].map((one) => cellOf(family, one, isCe, ends)),
      }));
  }

  function finder(value, change) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "search";
    input.value = value;
    input.size = 16;
    input.addEventListener("input", () => change(input.value));
    label.append("Find ", input);
    return label;
  }

  function tick(text, value, change) {
    const label = document.createElement("label");
    label.className = "check";
    const input = document.createElement("input");
    input.type = "checkbox";
    input.checked = value;
    input.addEventListener("change", () => change(input.checked));
    label.append(input, ` ${text}`);
    return label;
  }

  function show(places, family, now) {
    places.drawing.replaceChildren();
    const isCe = now.level === "ce";
    const ends = endsOf(numbersOf(family, now.level), isCe);
    const rows = rowsOf(family, now, isCe, ends);
    const columns = columnsOf(family, isCe);
    const what = isCe ? "Corruption error" : "Accuracy";
    window.oodometer.heatlegend(
      places.drawing,
      `${(100 * ends[0]).toFixed(0)}`,
      `${(100 * ends[1]).toFixed(0)} %`,
      isCe ? `${what}, less is better` : what,
      false,
    );
    const box = window.oodometer.heatgrid(places.drawing, columns, rows, {
      caption: `${what} of ${rows.length} models under ${columns.length - 1} corruptions, ${family.title}`,
      corner: "model",
      dense: rows.length > FEW,
      overview: now.overview && rows.length > MANY,
      upright: columns.length > 8,
    });
    if (!rows.length) {
      box.append(Object.assign(document.createElement("p"), { textContent: "No model has that in its name." }));
    }
  }

  window.oodometer.draw.heatmap = function (element, data) {
    const now = window.oodometer.chosen(element, { family: "0", level: "0", find: "", overview: false });
    const family = data.families[Number(now.family)];
    const known = levels(family);
    if (!known.some(([value]) => String(value) === now.level)) {
      now.level = "0";
    }
    const again = () => show(places, family, now);
    const change = (name) => (value) => {
      now[name] = value;
      again();
    };
    const controls = [];
    if (data.families.length > 1) {
      const titles = data.families.map((one, at) => [at, one.title]);
      controls.push(
        window.oodometer.choice("Family", titles, now.family, function (value) {
          now.family = value;
          element.replaceChildren();
          window.oodometer.draw.heatmap(element, data);
        }),
      );
    }
    if (known.length > 1) {
      controls.push(window.oodometer.choice("Show", known, now.level, change("level")));
    }
    if (family.models.length > 12) {
      controls.push(finder(now.find, change("find")));
    }
    if (family.models.length > MANY) {
      controls.push(tick("overview", now.overview, change("overview")));
    }
    const places = window.oodometer.chooser(element, controls);
    again();
  };
})();
