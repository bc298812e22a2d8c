// @ts-check
// Naming an image: what is typed is looked for among the names of all classes; the list of all of them, which works
// without this script, keeps what is chosen.
"use strict";
(function () {
  const MOST_OFFERED = 40;

  /** @typedef {{option: HTMLOptionElement, title: string, gloss: string, plain: string, also: string}} Entry */

  /** As it is compared: without accents, in small letters.
   * @param {string} text */
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  /** How well an entry fits what is typed; the smaller the better, -1 not at all.
   * @param {Entry} entry @param {string} typed */
  function fit(entry, typed) {
    if (entry.plain.startsWith(typed)) {
      return entry.plain.length === typed.length ? 0 : 1;
    }
    if (entry.plain.includes(` ${typed}`) || entry.plain.includes(`(${typed}`)) {
      return 2;
    }
    if (entry.plain.includes(typed)) {
      return 3;
    }
    return entry.also.includes(typed) ? 4 : -1;
  }

  /** @param {HTMLFormElement} form */
  function begin(form) {
    const select = /** @type {HTMLSelectElement} */ (document.getElementById("classes"));
    const field = /** @type {HTMLInputElement} */ (document.getElementById("find"));
    const list = /** @type {HTMLElement} */ (document.getElementById("offered"));
    const told = /** @type {HTMLElement} */ (document.getElementById("told"));
    const submit = /** @type {HTMLButtonElement} */ (document.getElementById("submit"));
    const skip = /** @type {HTMLButtonElement} */ (document.getElementById("skip"));
    const undo = /** @type {HTMLButtonElement} */ (document.getElementById("undo-button"));
    const chips = /** @type {HTMLElement} */ (form.querySelector(".chosen"));
    const most = Number(form.dataset.most);
    /** @type {Entry[]} */
    const entries = [...select.options].map((option) => ({
      option,
      title: option.text,
      gloss: option.dataset.gloss || "",
      plain: plain(option.text),
      also: plain(`${option.dataset.also || ""} ${option.value}`),
    }));
    /** @type {Entry[]} */
    let chosen = [];
    /** @type {Entry[]} */
    let offered = [];
    let at = 0;
    let sent = false;

    function showChosen() {
      chips.replaceChildren(
        ...chosen.map((entry) => {
          const chip = document.createElement("li");
          const away = document.createElement("button");
          away.type = "button";
          away.textContent = "×";
          away.setAttribute("aria-label", `without ${entry.title}`);
          away.addEventListener("click", () => {
            chosen = chosen.filter((other) => other !== entry);
            showChosen();
            field.focus();
          });
          chip.append(entry.title, away);
          return chip;
        }),
      );
      submit.disabled = sent || chosen.length === 0;
      told.textContent = chosen.length >= most ? `That is as many as can be chosen.` : "";
      offer();
    }

    /** @param {string} text @param {string} typed */
    function marked(text, typed) {
      const where = plain(text).indexOf(typed);
      if (where < 0 || plain(text).length !== text.length) {
        return [text];
      }
      const part = document.createElement("mark");
      part.textContent = text.slice(where, where + typed.length);
      return [text.slice(0, where), part, text.slice(where + typed.length)];
    }

    function offer() {
      const typed = plain(field.value.trim());
      const free = entries.filter((entry) => !chosen.includes(entry));
      const fits = free.map((entry) => ({ entry, how: typed ? fit(entry, typed) : 1 })).filter(({ how }) => how >= 0);
      fits.sort((one, other) => one.how - other.how); // a stable sort: alphabetical among equals
      offered = chosen.length >= most ? [] : fits.slice(0, MOST_OFFERED).map(({ entry }) => entry);
      at = 0;
      list.replaceChildren(
        ...offered.map((entry, place) => {
          const item = document.createElement("li");
          item.id = `offered-${place}`;
          item.setAttribute("role", "option");
          item.append(...(typed ? marked(entry.title, typed) : [entry.title]));
          if (entry.gloss && !entry.title.includes(entry.gloss)) {
            const gloss = document.createElement("small");
            gloss.textContent = entry.gloss;
            item.append(gloss);
          }
          item.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the keyboard
          item.addEventListener("click", () => choose(entry));
          return item;
        }),
      );
      if (typed && !offered.length && chosen.length < most) {
        told.textContent = "No class is called that.";
      } else if (chosen.length < most) {
        told.textContent = fits.length > MOST_OFFERED ? `${fits.length} classes; type to find the right one` : "";
      }
      point();
    }

    function point() {
      [...list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === at)));
      const here = /** @type {HTMLElement | undefined} */ (list.children[at]);
      field.setAttribute("aria-expanded", String(offered.length > 0));
      if (here) {
        field.setAttribute("aria-activedescendant", here.id);
        const top = here.offsetTop - list.offsetTop;
        list.scrollTop = Math.max(Math.min(list.scrollTop, top), top + here.offsetHeight - list.clientHeight);
      } else {
        field.removeAttribute("aria-activedescendant");
      }
    }

    /** @param {Entry} entry */
    function choose(entry) {
      if (chosen.length < most && !chosen.includes(entry)) {
        chosen.push(entry);
      }
      field.value = "";
      showChosen();
      field.focus();
    }

    /** @param {KeyboardEvent} event */
    function pressed(event) {
      if (event.isComposing || event.repeat && event.key === "Enter") {
        return;
      }
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        at = Math.max(0, Math.min(offered.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
        point();
      } else if (event.key === "Enter" && field.value.trim()) {
        if (offered[at]) {
          choose(offered[at]);
        }
      } else if (event.key === "Enter") {
        if (chosen.length) {
          form.requestSubmit(submit);
        } else if (at > 0 && offered[at]) {
          choose(offered[at]); // gone to with the arrows
        } else {
          told.textContent = "Type what it is, or say that you can’t tell.";
        }
      } else if (event.key === "Backspace" && !field.value && chosen.length) {
        chosen.pop();
        showChosen();
      } else if (event.key === "Escape") {
        if (field.value) {
          field.value = "";
          offer();
        } else {
          form.requestSubmit(skip);
        }
      } else {
        return;
      }
      event.preventDefault();
    }

    /** The names go in the order in which they were chosen. @param {FormDataEvent} event */
    function inOrder(event) {
      event.formData.delete("class");
      chosen.forEach((entry) => event.formData.append("class", entry.option.value));
    }

    select.hidden = true;
    /** @type {HTMLElement} */ (form.querySelector(".typed")).hidden = false;
    field.addEventListener("input", offer);
    field.addEventListener("keydown", pressed);
    form.addEventListener("formdata", inOrder);
    form.addEventListener("submit", (event) => {
      if (sent) {
        event.preventDefault();
      }
      sent = true;
    });
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !field.value && !undo.disabled) {
        event.preventDefault();
        undo.click();
      }
    });
    window.addEventListener("pageshow", () => {
      sent = false; // after going back
      showChosen();
    });
    showChosen();
    if (window.matchMedia("(hover: hover)").matches) {
      field.focus(); // on a phone the keyboard would cover the image
    }
  }

  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("name"));
  if (form) {
    begin(form);
  }
})();
