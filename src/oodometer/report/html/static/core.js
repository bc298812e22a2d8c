// What the scripts of the plots share: theme, looks of categories, a plot in the page's fonts and colours.
"use strict";
(function () {
  // The data that stand in an element as a script, which the browser does not run.
  function dataIn(element) {
    const script = element && (element.matches("script") ? element : element.querySelector(":scope > script[type='application/json']"));
    return JSON.parse(script?.textContent || "null");
  }

  const looks = dataIn(document.getElementById("oodometer-looks")) || {};
  const OPTIONS = { responsive: true, displaylogo: false, displayModeBar: false, scrollZoom: false, doubleClick: "reset" };
  const UNKNOWN = { colour: "#444444", dark: "#bbbbbb", symbol: "cross" };

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    return {
      dark: document.documentElement.dataset.theme === "dark",
      ink: value("--ink"),
      soft: value("--soft"),
      paper: value("--paper"),
      grid: value("--grid"),
      accent: value("--accent"),
      font: value("--sans"),
    };
  }

  function look(category) {
    const found = looks[category] || UNKNOWN;
    return { colour: window.oodometer.theme.dark ? found.dark : found.colour, symbol: found.symbol };
  }

  function axis(given, now) {
    const title = typeof given.title === "string" ? { text: given.title } : given.title;
    return Object.assign(
      {
        gridcolor: now.grid,
        linecolor: now.grid,
        zerolinecolor: now.grid,
        tickcolor: now.grid,
        automargin: true,
        tickfont: { color: now.soft, size: 12 },
      },
      given,
      title ? { title: Object.assign({ font: { color: now.ink, size: 13 } }, title) } : {},
    );
  }

  function themed(layout, now) {
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: now.font, size: 13, color: now.ink },
      margin: { l: 56, r: 16, t: 16, b: 48 },
      hoverlabel: {
        bgcolor: now.paper,
        bordercolor: now.soft,
        font: { family: now.font, size: 13, color: now.ink },
        align: "left",
      },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, xanchor: "left" },
      // A finger on a plot scrolls the page.
      dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
    };
    const whole = Object.assign(base, layout);
    for (const name of Object.keys(whole).concat("xaxis", "yaxis")) {
      if (/^[xy]axis\d*$/.test(name)) {
        whole[name] = axis(whole[name] || {}, now);
      }
    }
    return whole;
  }

  // A plot that is not the whole drawing (there are controls above it) gets an element of its own.
  function plot(element, traces, layout) {
    const drawing = element.closest("[data-draw]");
    const height = element.clientHeight > 100 && element !== drawing ? element.clientHeight : Number(drawing?.dataset.height) || 460;
    const whole = themed({ height, ...layout }, window.oodometer.theme);
    const caption = drawing?.parentElement.querySelector("figcaption");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", (caption ? caption.textContent : "Plot").trim());
    return window.Plotly.newPlot(element, traces, whole, OPTIONS);
  }

  const first = { draw: {}, dataIn: dataIn, looks: looks, look: look, theme: theme(), plot: plot };
  window.oodometer = /** @type {Page} */ (/** @type {unknown} */ (first)); // the other scripts add their parts
  document.addEventListener("oodometer-theme", function () {
    window.oodometer.theme = theme();
  });
})();
