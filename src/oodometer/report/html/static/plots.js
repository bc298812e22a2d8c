// Plots are drawn when they come into view, anew when light becomes dark, and all of them before printing.
"use strict";
(function () {
  const drawn = new Set();

  function draw(element) {
    const data = JSON.parse(element.parentElement.querySelector("script[type='application/json']").textContent);
    if (window.Plotly) {
      element.querySelectorAll(".js-plotly-plot").forEach((one) => window.Plotly.purge(one));
      window.Plotly.purge(element);
    }
    element.replaceChildren();
    window.oodometer.draw[element.dataset.draw](element, data);
    drawn.add(element);
  }

  function start() {
    const elements = document.querySelectorAll("[data-draw]");
    const watcher = new IntersectionObserver(
      function (entries) {
        for (const entry of entries) {
          if (entry.isIntersecting && !drawn.has(entry.target)) {
            watcher.unobserve(entry.target);
            draw(entry.target);
          }
        }
      },
      { rootMargin: "300px 0px" },
    );
    elements.forEach((element) => watcher.observe(element));
    window.addEventListener("beforeprint", function () {
      elements.forEach((element) => drawn.has(element) || draw(element));
    });
    document.addEventListener("oodometer-theme", function () {
      drawn.forEach(draw);
    });
  }

  document.addEventListener("DOMContentLoaded", start);
})();
