// A table whose cells are coloured by their numbers: it scrolls with its heads in place, is read like any table, and a
// cell tells more when it is pointed at or reached with the arrow keys.
"use strict";
(function () {
  // From little to much, told apart by lightness, so by every eye; black is read on all of the light ones, white on all
  // of the dark ones.
  const RAMPS = {
    light: ["#f7f4ee", "#dfe9f1", "#bcd5e9", "#93bee0", "#68a4d4", "#4189c4"],
    dark: ["#1b2027", "#1d2f42", "#1e4061", "#205282", "#2365a4", "#2872ba"],
  };
  // Orange below 0, blue above; paper in the middle.
  const BOTH_WAYS = {
    light: ["#d27f2e", "#e8b988", "#f7f4ee", "#93bee0", "#4189c4"],
    dark: ["#a5571c", "#63401f", "#1f242b", "#1f4a74", "#2872ba"],
  };

  const NAMES = 18; // rem that the names of rows may take, and a column
  const COLUMN = 10;

  function parts(colour) {
    return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  }

  // The colour at a place from 0 to 1, as three numbers.
  function mixed(stops, place) {
    const at = Math.min(Math.max(place, 0), 1) * (stops.length - 1);
    const first = Math.min(Math.floor(at), stops.length - 2);
    const [a, b] = [parts(stops[first]), parts(stops[first + 1])];
    return a.map((one, channel) => Math.round(one + (at - first) * (b[channel] - one)));
  }

  function luminance(rgb) {
    const [r, g, b] = rgb.map((one) => (one <= 10 ? one / 3294.6 : Math.pow((one / 255 + 0.055) / 1.055, 2.4)));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  // Black or white, whichever is read better: never less than 4.5 to 1.
  function inkOn(rgb) {
    return luminance(rgb) > 0.179 ? "#000000" : "#ffffff";
  }

  function stopsOf(bothWays) {
    const ramps = bothWays ? BOTH_WAYS : RAMPS;
    return window.oodometer.theme.dark ? ramps.dark : ramps.light;
  }

  function paint(element, place, bothWays) {
    const rgb = mixed(stopsOf(bothWays), place);
    element.style.backgroundColor = `rgb(${rgb.join(",")})`;
    element.style.color = inkOn(rgb);
  }

  function make(tag, name, ...inside) {
    return window.oodometer.make(tag, name ? { class: name } : {}, ...inside);
  }

  function headCell(column, upright) {
    const cell = make("th", upright ? "upright" : "");
    cell.scope = "col";
    cell.append(make("span", "", column.title));
    if (column.about) {
      cell.title = column.about;
    }
    return cell;
  }

  function groupsRow(columns) {
    const row = make("tr", "groups");
    row.append(make("td"));
    for (let at = 0; at < columns.length; ) {
      let end = at;
      while (end < columns.length && columns[end].group === columns[at].group) {
        end += 1;
      }
      const { group } = columns[at];
      const cell = group ? make("th", "group", group) : make("td"); // a head without words is none
      cell.colSpan = end - at;
      if (group) {
        cell.scope = "colgroup";
      }
      row.append(cell);
      at = end;
    }
    return row;
  }

  function startsGroup(columns, at) {
    return at > 0 && columns[at].group !== columns[at - 1].group;
  }

  function cellOf(value, options) {
    const cell = make("td");
    if (!value) {
      cell.className = "none";
      cell.textContent = "–";
      return cell;
    }
    cell.append(make("span", value.strong ? "strong" : "", value.text));
    if (value.small && !options.dense) {
      value.small.forEach((line) => cell.append(make("small", "", line)));
    }
    paint(cell, value.place, options.bothWays);
    return cell;
  }

  function rowOf(row, columns, options) {
    const line = make("tr");
    const head = make("th");
    head.scope = "row";
    head.append(make("span", "name", row.title));
    if (row.note) {
      head.append(make("small", "", row.note));
    }
    head.title = row.title;
    line.append(head);
    row.cells.forEach(function (value, at) {
      const cell = cellOf(value, options);
      if (startsGroup(columns, at)) {
        cell.classList.add("starts");
      }
      line.append(cell);
    });
    return line;
  }

  // What a cell tells: in a box beside it, which a screen reader hears as well.
  function tips(box, table, rows, columns) {
    const tip = make("div", "tip");
    tip.setAttribute("role", "status");
    tip.hidden = true;
    box.append(tip);

    function show(cell) {
      const row = rows[cell.parentElement.rowIndex - table.tHead.rows.length];
      const at = cell.cellIndex - 1;
      const value = row && row.cells[at];
      if (!value) {
        tip.hidden = true;
        return;
      }
      const lines = [columns[at].title, ...value.lines];
      tip.replaceChildren(make("b", "", row.title), ...lines.map((line) => make("span", "", line)));
      tip.hidden = false;
      const [outer, inner] = [box.getBoundingClientRect(), cell.getBoundingClientRect()];
      const left = inner.left - outer.left + inner.width / 2 - tip.offsetWidth / 2;
      tip.style.left = `${Math.max(4, Math.min(left, outer.width - tip.offsetWidth - 4))}px`;
      const above = inner.top - outer.top - tip.offsetHeight - 6;
      tip.style.top = `${above > 0 ? above : inner.bottom - outer.top + 6}px`;
    }

    function hide() {
      tip.hidden = true;
    }

    table.addEventListener("pointerover", function (event) {
      const cell = event.target.closest("tbody td");
      cell ? show(cell) : hide();
    });
    table.addEventListener("pointerleave", hide);
    table.addEventListener("focusin", (event) => event.target.matches("tbody td") && show(event.target));
    table.addEventListener("focusout", hide);
    box.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  }

  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  // One cell can be reached by Tab, the others from it.
  function arrows(table) {
    const body = table.tBodies[0];
    const first = body.querySelector("td");
    if (!first) {
      return;
    }
    let now = first;
    now.tabIndex = 0;
    body.addEventListener("keydown", function (event) {
      const step = STEPS[event.key];
      const cell = event.target.closest("td");
      if (!step || !cell) {
        return;
      }
      event.preventDefault();
      const row = body.rows[cell.parentElement.sectionRowIndex + step[0]];
      const next = row && row.cells[cell.cellIndex + step[1]];
      if (next && next.tagName === "TD") {
        now.tabIndex = -1;
        now = next;
        now.tabIndex = 0;
        now.focus();
      }
    });
  }

  // ``columns``: {title, group, about}; ``rows``: {title, note, cells}; a cell is null or {text, place from 0 to 1,
  // small: lines below the number, lines: what it tells, strong}. Options: caption, corner, nothing (what is said where
  // there are no rows), and whether: bothWays (colours from -1 to 1), dense, tall, overview, upright.
  function heatgrid(element, columns, rows, options) {
    const box = make("div", options.tall ? "heatgrid tall" : "heatgrid");
    // A few columns need not fill the page.
    box.style.maxWidth = `${NAMES + COLUMN * columns.length}rem`;
    const scroll = make("div", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", options.caption);
    const table = make("table", ["dense", "overview"].filter((name) => options[name]).join(" "));
    const caption = make("caption", "", options.caption);
    const nothing = rows.length ? [] : [make("p", "nothing", options.nothing || "")];
    const head = make("thead");
    if (new Set(columns.map((column) => column.group).filter(Boolean)).size > 1) {
      head.append(groupsRow(columns));
    }
    const titles = make("tr");
    const corner = make("th", "corner", options.corner || "");
    corner.scope = "col";
    titles.append(corner);
    columns.forEach(function (column, at) {
      const cell = headCell(column, options.upright);
      if (startsGroup(columns, at)) {
        cell.classList.add("starts");
      }
      titles.append(cell);
    });
    head.append(titles);
    const body = make("tbody");
    body.append(...rows.map((row) => rowOf(row, columns, options)));
    table.append(caption, head, body);
    scroll.append(table, ...nothing);
    box.append(scroll);
    element.append(box);
    tips(box, table, rows, columns);
    arrows(table);
  }

  // The scale of colours with its ends, and what it is of.
  function legend(element, from, to, label, bothWays) {
    const around = make("div", "heatlegend");
    const bar = make("span", "ramp");
    bar.style.backgroundImage = `linear-gradient(to right, ${stopsOf(bothWays).join(", ")})`;
    bar.setAttribute("aria-hidden", "true");
    around.append(make("span", "", label), make("span", "", from), bar, make("span", "", to));
    element.append(around);
  }

  Object.assign(window.oodometer, { heatgrid: heatgrid, heatlegend: legend });
})();
