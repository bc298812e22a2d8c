// The explorer's pages: tables are sorted by a click and searched, forms leave out what is empty, and a page whose numbers
// are still computed looks again. The report's tables are made of data that comes with them (table.js); these are HTML
// with links in their cells, so that their rows are moved as they are.
"use strict";
(function () {
  const LOOK_AGAIN_MS = 1000;
  const FEW_ROWS = 15;

  function valueOf(row, place) {
    const cell = row.cells[place];
    const given = cell.dataset.value;
    if (given !== undefined) {
      return given === "" ? null : Number(given);
    }
    return cell.classList.contains("none") ? null : cell.textContent.trim();
  }

  function compare(a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  }

  // Rows that are sorted, each with those below it that belong to it.
  function groupsOf(body) {
    const groups = [];
    for (const row of body.rows) {
      if (row.classList.contains("member") && groups.length) {
        groups[groups.length - 1].push(row);
      } else {
        groups.push([row]);
      }
    }
    return groups;
  }

  // What is not known stands last, whichever way is up.
  function sort(table, place, down) {
    const body = table.tBodies[0];
    const rows = groupsOf(body).map((group) => [valueOf(group[0], place), group]);
    rows.sort(function (one, other) {
      if (one[0] === null || other[0] === null) {
        return Number(one[0] === null) - Number(other[0] === null);
      }
      return down ? compare(other[0], one[0]) : compare(one[0], other[0]);
    });
    body.append(...rows.flatMap((pair) => pair[1]));
  }

  function connect(table) {
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach(function (heading, place) {
      if (heading.classList.contains("drawn")) {
        return; // a drawing: the numbers beside it are sorted
      }
      const name = (heading.querySelector("a") || heading.firstChild).textContent.trim();
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.setAttribute("aria-label", "sort by " + heading.textContent.trim());
      button.addEventListener("click", function () {
        const down = heading.getAttribute("aria-sort") !== "descending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, place, down);
        const order = table.caption && table.caption.querySelector(".order");
        if (order) {
          const ends = heading.className ? ["greatest first", "least first"] : ["Z to A", "A to Z"];
          order.textContent = `By ${name}, ${ends[down ? 0 : 1]}.`;
        }
      });
      heading.insertBefore(button, heading.querySelector("small"));
    });
  }

  // A field above a table with many rows: those stay whose first two cells (model and category) have what is typed.
  function search(table) {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length <= FEW_ROWS) {
      return;
    }
    const label = document.createElement("label");
    label.className = "search";
    label.textContent = "Find ";
    const field = document.createElement("input");
    field.type = "search";
    const told = document.createElement("span");
    told.setAttribute("role", "status");
    field.addEventListener("input", function () {
      const wanted = field.value.trim().toLowerCase();
      for (const row of rows) {
        const text = row.cells[0].textContent + " " + row.cells[1].textContent;
        row.hidden = !text.toLowerCase().includes(wanted);
      }
      const found = rows.filter((row) => !row.hidden).length;
      told.textContent = wanted ? " " + found + " of " + rows.length : "";
    });
    label.append(field, told);
    table.closest(".wide").before(label);
  }

  // An address with empty fields is harder to read and to share.
  function leaveEmptyOut(form) {
    form.addEventListener("formdata", function (event) {
      for (const [name, value] of Array.from(event.formData.entries())) {
        if (value === "") {
          event.formData.delete(name);
        }
      }
    });
  }

  function sendWhenChosen(form) {
    for (const choice of form.querySelectorAll("select")) {
      choice.addEventListener("change", () => form.requestSubmit());
    }
  }

  document.querySelectorAll("table.sortable").forEach(connect);
  document.querySelectorAll("table.searched").forEach(search);
  document.querySelectorAll("form.filters").forEach(leaveEmptyOut);
  document.querySelectorAll("form.filters").forEach(sendWhenChosen);
  // What is computed in the background is told as it goes on, and shown when it is done.
  async function tellProgress() {
    try {
      const answer = await fetch("/progress.json", { cache: "no-store" });
      const found = (await answer.json()).computing;
      if (found === null) {
        // Browsers keep in view what was in view: of a page that was short, its end. The top of it stays the top.
        window.history.scrollRestoration = window.scrollY === 0 ? "manual" : "auto";
        window.location.reload();
        return;
      }
      const said = document.getElementById("computing");
      if (said) {
        said.textContent = found.said;
      }
    } catch {
      // The server may be gone for a moment.
    }
    window.setTimeout(tellProgress, LOOK_AGAIN_MS);
  }

  if (document.body.dataset.pending !== undefined) {
    tellProgress();
  }
})();
