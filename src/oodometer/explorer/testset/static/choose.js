// @ts-check
// Choosing by keyword: arrows lead from image to image, letters take and leave, and a page of which nothing is taken is
// submitted only when asked twice. Without this script the form does the same by ticks and a button.
"use strict";
(function () {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("decide"));
  if (!form) {
    return;
  }
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[name=take]")]);
  const said = /** @type {HTMLElement} */ (document.getElementById("said"));
  const all = /** @type {HTMLButtonElement} */ (document.getElementById("all"));
  const submit = /** @type {HTMLButtonElement} */ (document.getElementById("submit"));
  let sureOfNone = false;
  let sent = false;

  const nTaken = () => boxes.filter((box) => box.checked).length;

  function show() {
    const n = nTaken();
    said.textContent = sureOfNone ? "Is none of them to be taken? Submit once more." : `${n} taken, ${boxes.length - n} left`;
    submit.textContent = sureOfNone ? "Yes, none of them" : "Submit";
    all.textContent = n === boxes.length ? "Take none" : "Take all";
  }

  function changed() {
    sureOfNone = false;
    show();
  }

  function toggleAll() {
    const take = nTaken() < boxes.length;
    boxes.forEach((box) => (box.checked = take));
    changed();
  }

  /** Where an arrow key leads: the rows are as long as the window has room for.
   * @param {string} key @param {number} at */
  function neighbour(key, at) {
    const tops = boxes.map((box) => /** @type {HTMLElement} */ (box.closest("li")).offsetTop);
    const other = tops.findIndex((top) => top !== tops[0]);
    const row = other < 1 ? boxes.length : other;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row };
    return boxes[at + steps[key]];
  }

  /** @param {number} at @param {boolean} take */
  function decide(at, take) {
    boxes[at].checked = take;
    (boxes[at + 1] || boxes[at]).focus();
    changed();
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const at = boxes.findIndex((box) => box === document.activeElement);
    const key = event.key.toLowerCase();
    if (event.key.startsWith("Arrow")) {
      (at < 0 ? boxes[0] : neighbour(event.key, at))?.focus();
    } else if ((key === "t" || key === "l") && at >= 0) {
      decide(at, key === "t");
    } else if (key === "u") {
      document.getElementById("undo-button")?.click();
    } else if (key === "a") {
      toggleAll();
    } else if (key === "enter" && (at >= 0 || document.activeElement === document.body)) {
      if (!event.repeat) { // a key that is held down must not answer the next page too
        /** @type {HTMLFormElement} */ (form).requestSubmit(submit);
      }
    } else {
      return;
    }
    event.preventDefault();
  }

  form.addEventListener("submit", (event) => {
    if (sent || (nTaken() === 0 && !sureOfNone)) {
      event.preventDefault();
      sureOfNone = !sent;
      show();
      return;
    }
    sent = true;
  });
  window.addEventListener("pageshow", () => {
    sent = false; // after going back
    changed();
  });
  boxes.forEach((box) => box.addEventListener("change", changed));
  all.addEventListener("click", toggleAll);
  all.hidden = false;
  document.addEventListener("keydown", pressed);
})();
