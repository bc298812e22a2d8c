// Small pieces of the page: an element with what is in it, a category as a word and as a sign.
"use strict";
(function () {
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name in element && name !== "style" && name !== "list") {
        element[name] = value;
      } else {
        element.setAttribute(name, value);
      }
    }
    element.append(...children);
    return element;
  }

  const spaced = (category) => category.replaceAll("_", " ");

  const SHAPES = {
    circle: "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1z",
    diamond: "M8 0l7 8-7 8-7-8z",
    x: "M1 4l3-3 4 4 4-4 3 3-4 4 4 4-3 3-4-4-4 4-3-3 4-4z",
    "triangle-up": "M8 1l7.5 13.5H.5z",
    "triangle-down": "M8 15L.5 1.5h15z",
    square: "M2 2h12v12H2z",
    star: "M8 0l2 5.6 6 .2-4.8 3.6L12.9 16 8 12.2 3.1 16l1.7-6.6L0 5.800l6-.2z",
    cross: "M5.5 1h5v4.5H15v5h-4.5V15h-5v-4.5H1v-5h4.5z",
    pentagon: "M8 .8l7 5.1-2.7 8.3H3.7L1 5.9z",
    hexagon: "M8 .8l6.3 3.6v7.2L8 15.2l-6.3-3.6V4.4z",
    "triangle-left": "M1 8L14.5 .5v15z",
    "triangle-right": "M15 8L1.5 .5v15z",
  };

  // The sign of a category, as in the plots.
  function mark(category) {
    const look = window.oodometer.look(category);
    const space = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(space, "svg");
    const path = document.createElementNS(space, "path");
    picture.setAttribute("viewBox", "0 0 16 16");
    picture.setAttribute("class", "mark");
    picture.setAttribute("aria-hidden", "true");
    picture.dataset.category = category;
    path.setAttribute("d", SHAPES[look.symbol] || SHAPES.circle);
    path.setAttribute("fill", look.colour);
    picture.append(path);
    return picture;
  }

  function recolour() {
    for (const picture of /** @type {NodeListOf<SVGElement>} */ (document.querySelectorAll("svg.mark"))) {
      picture.querySelector("path")?.setAttribute("fill", window.oodometer.look(picture.dataset.category).colour);
    }
  }

  Object.assign(window.oodometer, { make: make, spaced: spaced, mark: mark });
  document.addEventListener("oodometer-theme", recolour);
})();
