// @ts-check
// Close pairs: the second image is mirrored where that shows more.
"use strict";
(function () {
  const mirror = document.getElementById("mirror");
  const second = document.getElementById("second");
  if (mirror && second) {
    mirror.hidden = false;
    mirror.addEventListener("click", () => {
      const mirrored = second.classList.toggle("mirrored");
      mirror.setAttribute("aria-pressed", String(mirrored));
    });
  }
  /** @type {HTMLElement | null} */
  const show = document.querySelector("form.filters button[type=submit]");
  if (show) {
    show.hidden = true; // a choice is enough
  }
  document.querySelectorAll("form.filters select").forEach((choice) => {
    choice.addEventListener("change", () => /** @type {HTMLSelectElement} */ (choice).form?.requestSubmit());
  });
})();
