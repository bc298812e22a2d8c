// Lists, switches, buttons and fields with their labels, as plots use them.
"use strict";
(function () {
  const { make, mark, spaced } = window.oodometer;

  function labelled(text, control) {
    return make("label", { className: "control" }, make("span", {}, text), control);
  }

  // groups: [[title, [[value, text], ...]], ...]; those without a title stand alone.
  function choice(text, groups, chosen, change) {
    const select = make("select", {});
    for (const [title, options] of groups) {
      const place = title ? make("optgroup", { label: title }) : select;
      for (const [value, shown] of options) {
        place.append(make("option", { value: String(value), selected: String(value) === String(chosen) }, shown));
      }
      if (title) {
        select.append(place);
      }
    }
    select.addEventListener("change", () => change(select.value));
    return labelled(text, select);
  }

  function button(text, press, attributes) {
    const made = make("button", Object.assign({ type: "button" }, attributes), text);
    made.addEventListener("click", press);
    return made;
  }

  // A few choices side by side, of which one is pressed.
  function buttons(text, options, chosen, change) {
    const group = make("div", { className: "control buttons", role: "group", "aria-label": text }, make("span", {}, text));
    const row = make("div", { className: "row" });
    for (const [value, shown] of options) {
      const pressed = String(value) === String(chosen);
      const one = button(shown, () => change(value), { className: "choice", "aria-pressed": String(pressed) });
      one.dataset.value = value;
      row.append(one);
    }
    group.append(row);
    return group;
  }

  function check(text, on, change) {
    const box = make("input", { type: "checkbox", checked: on });
    box.addEventListener("change", () => change(box.checked));
    return make("label", { className: "control check" }, box, make("span", {}, text));
  }

  function field(text, value, change) {
    const input = make("input", { type: "search", value: value, autocomplete: "off", spellcheck: false });
    let waiting = 0;
    input.addEventListener("input", function () {
      window.clearTimeout(waiting);
      waiting = window.setTimeout(() => change(input.value), 120);
    });
    return labelled(text, input);
  }

  // Categories as buttons that show and hide: [[category, how many], ...]; change hears which are hidden then.
  function legend(categories, hidden, change) {
    const row = make("div", { className: "legend", role: "group", "aria-label": "Categories shown" });
    for (const [category, n] of categories) {
      const one = make(
        "button",
        { type: "button", className: "category", "aria-pressed": String(!hidden.has(category)) },
        mark(category),
        make("span", {}, spaced(category)),
        make("small", {}, String(n)),
      );
      one.addEventListener("click", function () {
        const after = new Set(hidden);
        after.delete(category) || after.add(category);
        change(after);
      });
      row.append(one);
    }
    return row;
  }

  // New controls in the place of the old; what had the focus has it again.
  function refill(place, children) {
    const all = () => [...place.querySelectorAll("select, button, input")];
    const focused = all().indexOf(document.activeElement);
    place.replaceChildren(...children);
    if (focused >= 0 && all()[focused]) {
      all()[focused].focus();
    }
  }

  // What is seldom chosen, folded; state.more keeps whether it is open.
  function more(summary, state, children) {
    const fold = make("details", { className: "more", open: Boolean(state.more) }, make("summary", {}, summary), ...children);
    heed(fold, (open) => (state.more = open));
    return fold;
  }

  // Hears of a fold's opening at once: its own event comes later, and who chooses quickly would find it closed again.
  function heed(fold, remember) {
    fold.firstChild.addEventListener("click", () => remember(!fold.open));
    fold.addEventListener("toggle", () => remember(fold.open));
  }

  // The numbers of what is drawn: a table that is made when it is opened. state.open keeps whether it is, while the plot
  // is drawn anew; numbers() gives {columns, rows, options}.
  function folded(summary, state, numbers) {
    const box = make("div", {});
    const fold = make("details", { className: "numbers", open: Boolean(state.open) }, make("summary", {}, summary), box);
    const fill = function () {
      const { columns, rows, options } = numbers();
      window.oodometer.table(box, columns, rows, options);
    };
    if (state.open) {
      fill();
    }
    heed(fold, function (open) {
      if (open && !state.open) {
        fill();
      }
      state.open = open;
    });
    return fold;
  }

  window.oodometer.controls = {
    choice: choice,
    button: button,
    buttons: buttons,
    check: check,
    field: field,
    legend: legend,
    refill: refill,
    more: more,
    folded: folded,
  };
})();
