// Light or dark: what was chosen on this machine, else what the system says. Runs before the page is drawn.
"use strict";
(function () {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function remembered() {
    try {
      return window.localStorage.getItem("oodometer-theme");
    } catch {
      return null; // a page without storage, as in some mail programs
    }
  }

  function remember(theme) {
    try {
      window.localStorage.setItem("oodometer-theme", theme);
    } catch {
      // not remembered, then
    }
  }

  function show() {
    const chosen = remembered();
    const dark = chosen ? chosen === "dark" : system.matches;
    root.dataset.theme = dark ? "dark" : "light";
    document.dispatchEvent(new CustomEvent("oodometer-theme"));
  }

  function label(button) {
    button.setAttribute("aria-pressed", String(root.dataset.theme === "dark"));
  }

  function connect() {
    const button = /** @type {HTMLButtonElement} */ (document.querySelector("button.theme"));
    button.hidden = false;
    label(button);
    button.addEventListener("click", function () {
      remember(root.dataset.theme === "dark" ? "light" : "dark");
      show();
    });
    document.addEventListener("oodometer-theme", function () {
      label(button);
    });
  }

  show();
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", connect);
})();
