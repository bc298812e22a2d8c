// Plots are drawn when they come into view, anew when light becomes dark, and all of them before printing, in light.
"use strict";
(function () {
  const root = document.documentElement;
  const elements = document.querySelectorAll("[data-draw]");
  const drawn = new Set();

  // Plotly is in the page as text, and becomes a script when it is first needed.
  function bringPlotly() {
    if (!window.Plotly) {
      const script = document.createElement("script");
      script.textContent = document.getElementById("oodometer-plotly").textContent;
      document.head.append(script);
    }
  }

  function draw(element) {
    bringPlotly();
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
      { rootMargin: "500px 0px" },
    );
    elements.forEach((element) => watcher.observe(element));
    document.addEventListener("oodometer-theme", () => drawn.forEach(draw));
  }

  function changeTheme(theme) {
    root.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent("oodometer-theme")); // what is drawn is drawn anew
  }

  // Plots as wide as the paper, on white.
  function print() {
    const before = root.dataset.theme;
    root.classList.add("paper");
    changeTheme("light");
    elements.forEach((element) => drawn.has(element) || draw(element));
    window.addEventListener(
      "afterprint",
      function () {
        root.classList.remove("paper");
        changeTheme(before);
      },
      { once: true },
    );
  }

  if (elements.length) {
    document.addEventListener("DOMContentLoaded", watch);
  }
  window.addEventListener("beforeprint", print);
})();
