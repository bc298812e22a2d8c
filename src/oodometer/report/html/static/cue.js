// A cue that a table goes on to the right: its edge fades, and on a phone a word says so.
"use strict";
(function () {
  const NEAR = 8; // pixels that nobody misses

  /** @param {HTMLElement} wide */
  function look(wide) {
    const left = wide.scrollWidth - wide.clientWidth - wide.scrollLeft;
    wide.classList.toggle("scrolled", wide.scrollLeft > 0);
    wide.classList.toggle("goes-on", left > NEAR);
  }

  // Watches a box that scrolls sideways.
  /** @type {Page["cue"]} */
  function cue(wide) {
    wide.addEventListener("scroll", () => look(wide), { passive: true });
    const watcher = new ResizeObserver(() => look(wide));
    watcher.observe(wide);
    if (wide.firstElementChild) {
      watcher.observe(wide.firstElementChild);
    }
  }

  window.oodometer.cue = cue;
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".dots .wide")).forEach(cue);
})();
