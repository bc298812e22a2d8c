// @ts-check
// Thresholds: a slider for each metric, and how many pairs are on both sides of it while it moves.
"use strict";
(function () {
  const STEPS = 1000;
  const WIDTH = 600;

  /** How many of the sorted distances are up to a radius.
   * @param {number[]} distances @param {number} radius */
  function upTo(distances, radius) {
    let low = 0;
    let high = distances.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (distances[middle] <= radius) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** @param {HTMLElement} part */
  function begin(part) {
    /** @type {number[]} */
    const distances = JSON.parse(part.dataset.distances || "[]");
    const most = Number(part.dataset.most);
    const slider = /** @type {HTMLInputElement} */ (part.querySelector("input[type=range]"));
    const number = /** @type {HTMLInputElement} */ (part.querySelector("input[type=number]"));
    const line = /** @type {SVGLineElement} */ (part.querySelector("svg line"));
    const bars = [...part.querySelectorAll("svg rect")];
    const counts = [part.querySelector(".n-below b"), part.querySelector(".n-above b")];

    /** @param {number} radius */
    function show(radius) {
      const below = radius > 0 ? upTo(distances, radius) : 0; // 0 leaves all pairs in
      [below, distances.length - below].forEach((n, at) => {
        if (counts[at]) {
          counts[at].textContent = n.toLocaleString("en");
        }
      });
      const x = String(Math.min(radius / most, 1) * WIDTH);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      bars.forEach((bar) => bar.classList.toggle("below", Number(bar.getAttribute("x")) + 9 <= Number(x)));
    }

    slider.hidden = false;
    slider.addEventListener("input", () => {
      const radius = (Number(slider.value) / STEPS) * most;
      number.value = String(Number(radius.toPrecision(4)));
      show(Number(number.value));
    });
    number.addEventListener("input", () => {
      slider.value = String(Math.round((Number(number.value) / most) * STEPS));
      show(Number(number.value));
    });
  }

  /** @type {NodeListOf<HTMLElement>} */
  const parts = document.querySelectorAll(".threshold");
  parts.forEach(begin);
})();
