// Plots are drawn when they come into view, anew when light becomes dark, and all of them before printing, in light.
"use strict";
(function () {
  const root = document.documentElement;
  const elements = document.querySelectorAll("[data-draw]");
  const drawn = new Set();

  /** @type {Promise<void> | null} */
  let bringing = null;
  /** @type {Promise<string> | null} */
  let unpacking = null;
  let source = "";

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  function fromBeside(place) {
    return new Promise(function (resolve, reject) {
      const script = document.createElement("script");
      script.addEventListener("load", resolve);
      script.addEventListener("error", reject);
      script.src = place;
      document.head.append(script);
    });
  }

  // It stands behind the scripts, and is there when the page is.
  function packedPlotly() {
    return document.getElementById("oodometer-plotly");
  }

  // Plotly is in the page packed, or lies beside it. To run it takes a second, in which nobody can scroll: so it is
  // unpacked early, and runs when it is first needed.
  function unpackPlotly() {
    unpacking ??= unpacked(packedPlotly()?.textContent || "").then((text) => (source = text));
    return unpacking;
  }

  // A headless browser prints as soon as a page is loaded. It is not while a document in it is open; it is used already.
  function stayLoading() {
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    frame.contentDocument?.open();
    return () => frame.remove();
  }

  function runPlotly() {
    if (source && !window.Plotly) {
      const script = document.createElement("script");
      script.textContent = source;
      document.head.append(script);
    }
  }

  function bringPlotly() {
    const beside = packedPlotly()?.dataset.src;
    bringing ??= beside ? fromBeside(beside) : unpackPlotly().then(runPlotly);
    return bringing;
  }

  function draw(element) {
    const data = window.oodometer.dataIn(element.parentElement);
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
            bringPlotly().then(() => drawn.has(entry.target) || draw(entry.target));
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
    runPlotly();
    if (window.Plotly) {
      elements.forEach((element) => drawn.has(element) || draw(element));
    }
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
    // Whoever prints before looking at a plot gets it too: a printer does not wait.
    // On a busy machine a browser may not be idle for long: then it is done all the same, since loading waits for it.
    const whenIdle = (work) =>
      window.requestIdleCallback ? window.requestIdleCallback(work, { timeout: 1000 }) : window.setTimeout(work);
    document.addEventListener("DOMContentLoaded", function () {
      if (packedPlotly()?.dataset.src) {
        window.addEventListener("load", () => whenIdle(bringPlotly));
      } else {
        const release = stayLoading();
        whenIdle(() => unpackPlotly().finally(release));
      }
    });
  }
  window.addEventListener("beforeprint", print);
})();
