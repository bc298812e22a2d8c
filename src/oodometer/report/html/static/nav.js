// The navigation marks the section that is being read.
"use strict";
(function () {
  const links = new Map();
  for (const link of document.querySelectorAll(".sections a")) {
    links.set(link.hash.slice(1), link);
  }

  function mark() {
    const atEnd = window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 2;
    let current = null;
    for (const [id, link] of links) {
      if (atEnd || document.getElementById(id).getBoundingClientRect().top < window.innerHeight / 3) {
        current = link;
      }
    }
    for (const link of links.values()) {
      if (link !== current) {
        link.removeAttribute("aria-current");
      } else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        const list = link.closest("nav");
        list.scrollLeft = link.offsetLeft - list.offsetLeft - list.clientWidth / 3;
      }
    }
  }

  let waiting = false;
  window.addEventListener(
    "scroll",
    function () {
      if (!waiting) {
        waiting = true;
        requestAnimationFrame(function () {
          waiting = false;
          mark();
        });
      }
    },
    { passive: true },
  );
  mark();
})();
