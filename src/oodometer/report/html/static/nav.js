// The navigation marks the section that is being read.
"use strict";
(function () {
  // The place of the section that is being read: the last that begins above the line of reading. At the end of the page,
  // whose last sections can't come up to that line: the one that was gone to, if it is seen, else the last.
  /**
   * @param {number[]} tops Of the headings, in pixels from the top of the window.
   * @param {number} line Above which a section is being read.
   * @param {{ reached: boolean, wanted: number | null }} end Whether the page ends here, and which section was gone to.
   */
  function current(tops, line, end) {
    if (end.reached) {
      return end.wanted !== null && tops[end.wanted] > line ? end.wanted : tops.length - 1;
    }
    return tops.filter((top) => top <= line).length - 1;
  }

  window.oodometer.current = current;

  const links = /** @type {HTMLAnchorElement[]} */ (Array.from(document.querySelectorAll(".sections a")));
  const headings = links.map((link) => /** @type {HTMLElement} */ (document.getElementById(link.hash.slice(1))));
  const BELOW = 24; // pixels below where a heading stops that was gone to

  function wanted() {
    const at = links.findIndex((link) => link.hash === window.location.hash);
    return at < 0 ? null : at;
  }

  function mark() {
    const padding = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const tops = headings.map((heading) => heading.getBoundingClientRect().top);
    const reached = window.scrollY > 0 && window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 2;
    const now = Math.max(0, current(tops, padding + BELOW, { reached: reached, wanted: wanted() }));
    links.forEach(function (link, at) {
      if (at !== now) {
        link.removeAttribute("aria-current");
      } else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        const list = /** @type {HTMLElement} */ (link.closest("nav"));
        list.scrollLeft = link.offsetLeft - list.offsetLeft - list.clientWidth / 3;
      }
    });
  }

  let waiting = false;
  function soon() {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(function () {
        waiting = false;
        mark();
      });
    }
  }
  if (links.length) {
    window.oodometer.cue(/** @type {HTMLElement} */ (links[0].closest("nav")));
    window.addEventListener("scroll", soon, { passive: true });
    window.addEventListener("hashchange", soon);
    window.addEventListener("resize", soon, { passive: true });
    mark();
  }
})();
