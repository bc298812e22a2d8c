// The keyboard: through images and pages of lists with the arrow keys or j and k, what is looked for with /, all keys
// with ?. Every key does what a link of the page does.
"use strict";
(function () {
  /** @type {[names: string, does: string, keys: string[], act: () => boolean][]} */
  const KEYS = [
    ["→ or j", "the next image, or page of the list", ["ArrowRight", "j"], () => follow("next")],
    ["← or k", "the one before", ["ArrowLeft", "k"], () => follow("prev")],
    ["u", "back to the list", ["u"], () => follow("up")],
    ["/", "what is looked for", ["/"], find],
    ["?", "these keys", ["?"], show],
  ];

  function follow(where) {
    /** @type {HTMLAnchorElement | null} */
    const link = document.querySelector(`main a[rel~="${where}"][href]`);
    if (link) {
      link.click();
    }
    return Boolean(link);
  }

  function find() {
    /** @type {HTMLInputElement | null} */
    const field = document.querySelector("main input[type=search]");
    if (field) {
      field.focus();
      field.select();
    }
    return Boolean(field);
  }

  function keysDialog() {
    const dialog = document.createElement("dialog");
    dialog.className = "keys";
    const heading = document.createElement("h2");
    heading.textContent = "Keys";
    const list = document.createElement("dl");
    for (const [names, does] of KEYS) {
      const name = document.createElement("dt");
      name.textContent = names;
      const what = document.createElement("dd");
      what.textContent = does;
      list.append(name, what);
    }
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    dialog.setAttribute("aria-label", "Keys");
    dialog.append(heading, list, close);
    document.body.append(dialog);
    return dialog;
  }

  function show() {
    /** @type {HTMLDialogElement | null} */
    const made = document.querySelector("dialog.keys");
    (made || keysDialog()).showModal();
    return true;
  }

  // Where letters are typed, or arrows move within something, they are not ours.
  function isTaken(target) {
    return Boolean(target.closest("input, select, textarea, dialog, [role=grid], .heat, .js-plotly-plot"));
  }

  function scrolls(event) {
    const region = event.target.closest(".wide");
    return event.key.startsWith("Arrow") && region !== null && region.scrollWidth > region.clientWidth;
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event.target) || scrolls(event)) {
      return;
    }
    const key = KEYS.find(([, , names]) => names.includes(event.key));
    if (key && key[3]()) {
      event.preventDefault();
    }
  });
})();
