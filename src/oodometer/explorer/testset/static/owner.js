// @ts-check
// What the owner's pages share: a key for each button and link that names one, a list of them with ?, and places in the
// bar of pages that are in sight. Every key does what something on the page does.
"use strict";
(function () {
  /** Where letters are typed they are not ours.
   * @param {EventTarget | null} target */
  function isTyping(target) {
    return target instanceof Element && Boolean(target.closest("input:not([type=checkbox]), select, textarea, dialog, .wide"));
  }

  /** @returns {HTMLElement[]} */
  const withKeys = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-key]")]);

  /** @param {HTMLElement} one */
  const namesOf = (one) => (one.dataset.key || "").split(" ");

  /** @param {string} text @param {string} tag */
  function element(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  function keysDialog() {
    const dialog = document.createElement("dialog");
    dialog.className = "keys";
    dialog.setAttribute("aria-label", "Keys");
    const list = document.createElement("dl");
    const seen = new Set();
    for (const one of withKeys()) {
      const does = one.dataset.does || (one.textContent || "").trim();
      if (!seen.has(does)) {
        seen.add(does);
        const names = namesOf(one).map((name) => ({ ArrowRight: "→", ArrowLeft: "←", Enter: "Enter" })[name] || name);
        list.append(element("dt", names.join(" or ")), element("dd", does));
      }
    }
    /** @type {[string, string][]} */
    const more = JSON.parse(document.getElementById("more-keys")?.textContent || "[]");
    more.forEach(([name, does]) => list.append(element("dt", name), element("dd", does)));
    const close = element("button", "Close");
    close.setAttribute("type", "button");
    close.addEventListener("click", () => dialog.close());
    dialog.append(element("h2", "Keys"), list, close);
    document.body.append(dialog);
    return dialog;
  }

  function showKeys() {
    /** @type {HTMLDialogElement | null} */
    const made = document.querySelector("dialog.keys");
    (made || keysDialog()).showModal();
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) {
      return;
    }
    if (event.key === "?") {
      showKeys();
      return;
    }
    const meant = withKeys().find((one) => namesOf(one).includes(event.key) && !one.hasAttribute("disabled"));
    if (meant) {
      event.preventDefault();
      meant.click();
    }
  }

  /** Two clicks must not answer two pages.
   * @param {SubmitEvent} event */
  function once(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.method === "post") {
      if (form.dataset.sent) {
        event.preventDefault();
      }
      form.dataset.sent = "yes";
    }
  }

  /** The page that is open is in sight in the bar. */
  function showHere() {
    /** @type {HTMLElement | null} */
    const here = document.querySelector("nav.sections [aria-current]");
    const bar = here && here.closest("nav");
    if (here && bar) {
      bar.scrollLeft = here.offsetLeft + here.offsetWidth / 2 - bar.clientWidth / 2 - bar.offsetLeft;
    }
  }

  document.addEventListener("keydown", pressed);
  document.addEventListener("submit", once);
  window.addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => form.removeAttribute("data-sent")));
  /** @type {NodeListOf<HTMLElement>} */
  const questions = document.querySelectorAll("button[data-keys]");
  questions.forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", showKeys);
  });
  document.addEventListener("DOMContentLoaded", showHere); // when the button beside the bar has its room
})();
