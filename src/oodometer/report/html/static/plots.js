// Plots are drawn when they come into view, anew when light becomes dark, and all of them before printing, in light.
"use strict";
(function () {
  const root = document.documentElement;
  const elements = document.querySelectorAll("[data-draw]");
  const drawn = new Set();

  function draw(element) {
    const data = JSON.parse(element.parentElement.querySelector(":scope > script[type='application/json']").textContent);
    element.querySelectorAll(".js-plotly-plot").forEach((one) => window.Plotly.purge(one));
    window.Plotly.purge(element);
    element.replaceChildren();
    drawn.add(element);
    window.oodometer.draw[element.dataset.draw](element, data);
  }

  function watch() {
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
    document.addEventListener("oodometer-theme", () => drawn.forEach(draw));
  }

  function changeTheme(theme) {
    root.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent("oodometer-theme"));
  }

  function print() {
    const before = root.dataset.theme;
    if (before === "dark") {
      changeTheme("light");
      window.addEventListener("afterprint", () => changeTheme(before), { once: true });
    }
    elements.forEach((element) => drawn.has(element) || draw(element));
  }

  if (elements.length) {
    document.addEventListener("DOMContentLoaded", watch);
  }
  window.addEventListener("beforeprint", print);
})();
