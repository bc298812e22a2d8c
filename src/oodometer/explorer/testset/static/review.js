// @ts-check
// Review: arrows lead from image to image, what is decided is about the selected ones or the one in focus, and an image
// can be seen large.
"use strict";
(function () {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("decide"));
  const boxes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll(".image input[type=checkbox]")]);
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("large"));
  const what = /** @type {HTMLElement} */ (document.getElementById("what"));
  const usual = what.textContent;

  function count() {
    const n = boxes.filter((box) => box.checked).length;
    what.textContent = n ? `Exclude ${n === 1 ? "the selected image" : `the ${n} selected images`}:` : usual;
  }

  /** @param {HTMLInputElement} box */
  const centre = (box) => {
    const place = /** @type {HTMLElement} */ (box.closest(".image")).getBoundingClientRect();
    return { x: place.left + place.width / 2, y: place.top + place.height / 2 };
  };

  /** The nearest image in the direction of an arrow.
   * @param {HTMLInputElement} from @param {string} key */
  function neighbour(from, key) {
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const row = boxes.filter((box) => Math.abs(centre(box).y - centre(from).y) < 20);
      row.sort((one, other) => centre(one).x - centre(other).x);
      return row[row.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
    }
    const sign = key === "ArrowDown" ? 1 : -1;
    const here = centre(from);
    const beyond = boxes.filter((box) => sign * (centre(box).y - here.y) > 20);
    const far = (box) => Math.abs(centre(box).y - here.y) * 10 + Math.abs(centre(box).x - here.x);
    return beyond.sort((one, other) => far(one) - far(other))[0];
  }

  /** @param {HTMLInputElement} box */
  function enlarge(box) {
    const image = /** @type {HTMLImageElement} */ (dialog.querySelector("img"));
    image.src = `/picture/large/${encodeURIComponent(box.value)}`;
    dialog.showModal();
    dialog.addEventListener("close", () => box.focus(), { once: true });
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || (target instanceof Element && target.closest("#words, dialog"))) {
      return;
    }
    const box = boxes.find((one) => one === target);
    if (event.key.startsWith("Arrow")) {
      const to = box ? neighbour(box, event.key) : boxes[0];
      event.preventDefault();
      to?.focus();
    } else if (event.key === "Enter" && box) {
      event.preventDefault();
      enlarge(box);
    }
  }

  /** Where nothing is selected, a key is about the image in focus. */
  let inFocus = /** @type {HTMLInputElement | undefined} */ (undefined);
  document.addEventListener("focusin", (event) => {
    const box = boxes.find((one) => one === event.target);
    inFocus = box || inFocus;
  });
  form.addEventListener("submit", (event) => {
    const submitter = /** @type {HTMLButtonElement | null} */ (event.submitter);
    if (submitter?.name !== "only" && inFocus && !boxes.some((box) => box.checked)) {
      inFocus.checked = true;
    }
  });
  // Enter in the field of words is for its own button, not for the first reason of the list.
  document.getElementById("words")?.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      form.requestSubmit(/** @type {HTMLButtonElement} */ (form.querySelector("button[value=own]")));
    }
  });
  document.addEventListener("keydown", pressed);
  boxes.forEach((box) => box.addEventListener("change", count));
  document.querySelectorAll(".enlarge").forEach((link, at) => {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      enlarge(boxes[at]);
    });
  });
  document.getElementById(decodeURIComponent(window.location.hash.slice(1)))?.focus();
  count();
})();
