// @ts-check
// A grid of images inside a crowd-form, which submits what stands in its hidden fields.
"use strict";
(function () {
  const task = /** @type {HTMLElement} */ (document.getElementById("grid-task"));
  const form = /** @type {HTMLFormElement} */ (document.querySelector("crowd-form"));
  const list = /** @type {HTMLElement} */ (document.getElementById("choices"));
  const said = /** @type {HTMLElement} */ (document.getElementById("said"));
  const undo = /** @type {HTMLButtonElement} */ (document.getElementById("undo"));
  const selectedField = /** @type {HTMLInputElement} */ (document.getElementById("selected"));
  const secondsField = /** @type {HTMLInputElement} */ (document.getElementById("seconds"));
  const begun = Date.now();

  /** A text of the table, of which all signs that could mean something are encoded.
   * @param {string} name */
  const text = (name) => decodeURIComponent(task.dataset[name] || "");

  const addresses = (task.dataset.images || "").split(" ").filter(Boolean);
  const selected = addresses.map(() => false);
  /** @type {number[]} */
  const clicks = [];
  let missing = addresses.length;
  let sureOfNone = false;

  function show() {
    choices.forEach((choice, at) => choice.setAttribute("aria-pressed", String(selected[at])));
    undo.disabled = clicks.length === 0;
    selectedField.value = selected.map((on) => (on ? "y" : "n")).join("");
    const n = selected.filter(Boolean).length;
    said.textContent = missing
      ? (addresses.length - missing) + " of " + addresses.length + " images are loaded"
      : text("title") + ": " + n + " of " + addresses.length + " selected";
  }

  /** @param {number} at @param {boolean} [back] */
  function toggle(at, back = false) {
    selected[at] = !selected[at];
    sureOfNone = false;
    if (!back) {
      clicks.push(at);
    }
    show();
    focus(at);
  }

  function takeBack() {
    const at = clicks.pop();
    if (at !== undefined) {
      toggle(at, true);
    }
  }

  /** @param {number} at */
  function focus(at) {
    choices.forEach((choice, other) => (choice.tabIndex = other === at ? 0 : -1));
    choices[at].focus();
  }

  /** Where an arrow key leads: the rows are as long as the window has room for.
   * @param {string} key @param {number} at */
  function neighbour(key, at) {
    const top = choices[0].offsetTop;
    const columns = choices.findIndex((choice) => choice.offsetTop !== top);
    const row = columns < 1 ? choices.length : columns;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row };
    const to = key === "Home" ? 0 : key === "End" ? choices.length - 1 : at + steps[key];
    return to >= 0 && to < choices.length ? to : at;
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const inGrid = event.target instanceof Element && list.contains(event.target);
    const at = choices.findIndex((choice) => choice.tabIndex === 0);
    if ((key === "z" && (event.ctrlKey || event.metaKey)) || (key === "u" && !event.ctrlKey && !event.metaKey)) {
      event.preventDefault();
      takeBack();
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (key.startsWith("Arrow") || (inGrid && (key === "Home" || key === "End"))) {
      event.preventDefault();
      focus(inGrid ? neighbour(key, at) : at);
    } else if (key === "Enter" && (inGrid || event.target === document.body)) {
      event.preventDefault(); // or the image would be selected
      if (!event.repeat) {
        form.submit();
      }
    }
  }

  /** What is submitted has to be whole, and meant.
   * @param {Event} event */
  function check(event) {
    const none = !selected.includes(true);
    if (missing > 0) {
      event.preventDefault();
      said.textContent = "Not yet: " + missing + " images are still missing. If they don't come, return the task.";
    } else if (none && !sureOfNone) {
      event.preventDefault();
      sureOfNone = true;
      said.textContent = "Does none of them show it? Submit once more.";
    }
    secondsField.value = String((Date.now() - begun) / 1000);
  }

  /** @param {string} address @param {number} at */
  function choiceOf(address, at) {
    const choice = document.createElement("button");
    choice.type = "button";
    choice.className = "choice";
    choice.tabIndex = at === 0 ? 0 : -1;
    choice.setAttribute("aria-label", "Image " + (at + 1));
    choice.addEventListener("click", () => toggle(at));
    const image = document.createElement("img");
    image.alt = "";
    image.draggable = false;
    image.addEventListener("load", () => {
      missing -= 1;
      show();
    }, { once: true });
    let wait = 500;
    image.addEventListener("error", () => {
      setTimeout(() => (image.src = address + "?again=" + wait), wait);
      wait = Math.min(2 * wait, 8000);
    });
    image.src = address;
    choice.append(image);
    const item = document.createElement("li");
    item.append(choice);
    list.append(item);
    return choice;
  }

  /** @type {HTMLButtonElement[]} */
  const choices = addresses.map(choiceOf);
  /** @type {HTMLElement} */ (document.getElementById("title")).textContent = text("title");
  /** @type {HTMLElement} */ (document.getElementById("gloss")).textContent = text("gloss");
  const link = /** @type {HTMLAnchorElement} */ (document.getElementById("link"));
  if (/^https?:\/\//.test(text("link"))) {
    link.href = text("link");
    link.hidden = false;
  }
  undo.addEventListener("click", takeBack);
  document.addEventListener("keydown", pressed);
  form.addEventListener("submit", check);
  show();
})();
