// @ts-check
// A grid of images, of which a person selects those that show a class. What is selected is kept in the browser until
// the server has it: a reload or a server that is away for a while loses nothing.
"use strict";
(function () {
  const PREFIX = "oodometer-answer-";
  const FIRST_WAIT = 500;
  const LONGEST_WAIT = 8000;
  const FOLDED = "oodometer-how-folded";

  /**
   * @typedef {object} Draft
   * @property {boolean[]} selected One for each position.
   * @property {number[]} clicks Positions in the order in which they were clicked.
   * @property {number} begun When, in milliseconds.
   * @property {{selected: boolean[], seconds: number} | null} sent What was submitted, and may not have arrived.
   */

  /** The browser may forbid to keep anything: then all goes on without. */
  const kept = {
    /** @param {string} name @returns {string | null} */
    read(name) {
      try {
        return window.localStorage.getItem(name);
      } catch {
        return null;
      }
    },
    /** @param {string} name @param {string | null} value */
    write(name, value) {
      try {
        if (value === null) {
          window.localStorage.removeItem(name);
        } else {
          window.localStorage.setItem(name, value);
        }
      } catch {
        // it is full or forbidden
      }
    },
    /** @returns {string[]} */
    names() {
      try {
        return Object.keys(window.localStorage).filter((name) => name.startsWith(PREFIX));
      } catch {
        return [];
      }
    },
  };

  /** @param {number} milliseconds */
  const pause = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));

  /** @param {string} task @param {number} n @returns {Draft} */
  function draftOf(task, n) {
    try {
      const draft = JSON.parse(kept.read(PREFIX + task) || "");
      if (Array.isArray(draft.selected) && draft.selected.length === n && Array.isArray(draft.clicks)) {
        return draft;
      }
    } catch {
      // there is none, or none that can be used
    }
    return { selected: Array(n).fill(false), clicks: [], begun: Date.now(), sent: null };
  }

  /**
   * Send an answer until the server has said something about it.
   * @param {string} task
   * @param {{selected: boolean[], seconds: number}} sent
   * @param {() => void} away Called each time that nobody answers.
   * @returns {Promise<string>} Why it was refused; empty: it was taken.
   */
  async function deliver(task, sent, away) {
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        const response = await fetch("/annotate/answer", {
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json" },
          body: JSON.stringify({ task, ...sent }),
        });
        if (response.ok) {
          return "";
        }
        if (response.status < 500) {
          const said = await response.json().catch(() => ({}));
          return String(said.error || "The answer was refused.");
        }
      } catch {
        // the server is away
      }
      away();
      await pause(wait);
    }
  }

  /** Answers that were submitted on another page and may not have arrived go first; other drafts are of no use now.
   * @param {string} task The one that is shown. */
  function clearOthers(task) {
    for (const name of kept.names()) {
      const other = name.slice(PREFIX.length);
      if (other === task) {
        continue;
      }
      const { sent } = draftOf(other, JSON.parse(kept.read(name) || "{}").selected?.length ?? 0);
      if (sent) {
        void deliver(other, sent, () => undefined).then(() => kept.write(name, null));
      } else {
        kept.write(name, null);
      }
    }
  }

  /** @param {HTMLElement} list */
  function begin(list) {
    const task = list.dataset.task || "";
    const choices = /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll("button")]);
    const said = /** @type {HTMLElement} */ (document.getElementById("said"));
    const undo = /** @type {HTMLButtonElement} */ (document.getElementById("undo"));
    const submit = /** @type {HTMLButtonElement} */ (document.getElementById("submit"));
    const draft = draftOf(task, choices.length);
    let missing = choices.length;
    let sending = false;
    let sureOfNone = false;

    const nSelected = () => draft.selected.filter(Boolean).length;
    const save = () => kept.write(PREFIX + task, JSON.stringify(draft));

    function show() {
      choices.forEach((choice, at) => choice.setAttribute("aria-pressed", String(draft.selected[at])));
      undo.disabled = sending || draft.clicks.length === 0;
      submit.disabled = sending || missing > 0;
      submit.textContent = sending ? "Sending…" : sureOfNone ? "Yes, none of them" : "Submit";
      if (!sending) {
        said.textContent = missing
          ? `${choices.length - missing} of ${choices.length} images are loaded`
          : sureOfNone
            ? "Does none of them show it? Submit once more."
            : `${list.dataset.about}: ${nSelected()} of ${choices.length} selected`;
      }
    }

    /** @param {number} at @param {boolean} [back] */
    function toggle(at, back = false) {
      if (sending) {
        return;
      }
      draft.selected[at] = !draft.selected[at];
      sureOfNone = false;
      if (!back) {
        draft.clicks.push(at);
      }
      save();
      show();
    }

    function takeBack() {
      const at = sending ? undefined : draft.clicks.pop();
      if (at !== undefined) {
        toggle(at, true);
        focus(at);
      }
    }

    /** @param {number} at */
    function focus(at) {
      choices.forEach((choice, other) => (choice.tabIndex = other === at ? 0 : -1));
      choices[at].focus();
    }

    /** Where an arrow key leads: the rows are as long as the window has room for.
     * @param {string} key @param {number} at @returns {number | undefined} */
    function neighbour(key, at) {
      const top = choices[0].offsetTop;
      const columns = choices.findIndex((choice) => choice.offsetTop !== top);
      const row = columns < 1 ? choices.length : columns;
      const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row };
      const to = key === "Home" ? 0 : key === "End" ? choices.length - 1 : at + steps[key];
      return to >= 0 && to < choices.length ? to : undefined;
    }

    async function send() {
      if (sending || missing > 0) {
        return;
      }
      if (nSelected() === 0 && !sureOfNone) {
        sureOfNone = true;
        show();
        return;
      }
      draft.sent = { selected: draft.selected.slice(), seconds: (Date.now() - draft.begun) / 1000 };
      save();
      await arrive();
    }

    async function arrive() {
      const sent = draft.sent;
      if (!sent) {
        return;
      }
      sending = true;
      show();
      const refused = await deliver(task, sent, () => {
        said.textContent = "The server is away. Your answer is kept here, and sent as soon as it is back.";
      });
      if (refused) {
        draft.sent = null;
        save();
        sending = false;
        show();
        said.textContent = refused;
        return;
      }
      kept.write(PREFIX + task, null);
      said.textContent = "Thank you. Here is the next one.";
      next();
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
        const to = inGrid ? neighbour(key, at) : at;
        event.preventDefault();
        if (to !== undefined) {
          focus(to);
        }
      } else if (key === "Enter" && (inGrid || event.target === document.body)) {
        event.preventDefault(); // or the image would be selected
        if (!event.repeat) { // a key that is held down must not answer the next page too
          void send();
        }
      }
    }

    choices.forEach((choice, at) => {
      choice.addEventListener("click", () => {
        toggle(at);
        focus(at);
      });
      const image = /** @type {HTMLImageElement} */ (choice.querySelector("img"));
      void loaded(image).then(() => {
        missing -= 1;
        show();
      });
    });
    undo.addEventListener("click", takeBack);
    submit.addEventListener("click", () => void send());
    document.addEventListener("keydown", pressed);
    clearOthers(task);
    save();
    show();
    void arrive();
  }

  /** When an image is there; one that can't be had is asked for again.
   * @param {HTMLImageElement} image */
  async function loaded(image) {
    const address = image.src;
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      if (!(image.complete && image.naturalWidth)) {
        await new Promise((go) => {
          if (image.complete) {
            go(undefined); // it has failed already
          }
          image.addEventListener("load", go, { once: true });
          image.addEventListener("error", go, { once: true });
        });
      }
      if (image.naturalWidth) {
        return;
      }
      await pause(wait);
      image.src = `${address}?again=${wait}${Date.now()}`;
    }
  }

  /** The page of the next task, as soon as somebody answers: a page that can't be loaded would be an end. */
  async function next() {
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        const response = await fetch("/static/annotate.css");
        if (response.status < 500) {
          window.location.reload();
          return;
        }
      } catch {
        // the server is away
      }
      await pause(wait);
    }
  }

  /** Instructions stay folded for who has folded them. */
  function remember() {
    const how = /** @type {HTMLDetailsElement | null} */ (document.querySelector("details.how"));
    if (how) {
      how.open = kept.read(FOLDED) !== "yes";
      how.addEventListener("toggle", () => kept.write(FOLDED, how.open ? null : "yes"));
    }
  }

  window.history.scrollRestoration = "manual";
  remember();
  const list = document.getElementById("choices");
  if (list) {
    begin(list);
  } else {
    clearOthers("");
    const again = /** @type {HTMLElement | null} */ (document.querySelector("[data-look-again]"));
    if (again) {
      setTimeout(() => void next(), 1000 * Number(again.dataset.lookAgain));
    }
  }
})();
