// The explorer's pages: forms leave out what is empty, and a page whose numbers are still computed looks again.
"use strict";
(function () {
  const LOOK_AGAIN_MS = 1000;

  // An address with empty fields is harder to read and to share.
  function leaveEmptyOut(form) {
    form.addEventListener("formdata", function (event) {
      for (const [name, value] of Array.from(event.formData.entries())) {
        if (value === "") {
          event.formData.delete(name);
        }
      }
    });
  }

  function sendWhenChosen(form) {
    for (const choice of form.querySelectorAll("select")) {
      choice.addEventListener("change", () => form.requestSubmit());
    }
  }

  // The matrix and the bar of pages go on to the right: their edge fades; the page that is open is in sight.
  function showSides() {
    /** @type {HTMLElement | null} */
    const bar = document.querySelector("nav.sections");
    /** @type {NodeListOf<HTMLElement>} */
    const wide = document.querySelectorAll(".wide:has(> table.matrix), nav.sections");
    wide.forEach((element) => window.oodometer.cue(element));
    /** @type {HTMLElement | null} */
    const here = document.querySelector("nav.sections [aria-current]");
    if (bar && here) {
      bar.scrollLeft = here.offsetLeft + here.offsetWidth / 2 - bar.clientWidth / 2 - bar.offsetLeft;
    }
  }

  document.addEventListener("DOMContentLoaded", showSides); // when the button beside the bar has its room
  document.querySelectorAll("form.filters").forEach(leaveEmptyOut);
  document.querySelectorAll("form.filters").forEach(sendWhenChosen);
  // What is computed in the background is told as it goes on, and shown when it is done.
  async function tellProgress() {
    try {
      const answer = await fetch("/progress.json", { cache: "no-store" });
      const found = (await answer.json()).computing;
      if (found === null) {
        // Browsers keep in view what was in view: of a page that was short, its end. The top of it stays the top.
        window.history.scrollRestoration = window.scrollY === 0 ? "manual" : "auto";
        window.location.reload();
        return;
      }
      const said = document.getElementById("computing");
      if (said) {
        said.textContent = found.said;
      }
    } catch {
      // The server may be gone for a moment.
    }
    window.setTimeout(tellProgress, LOOK_AGAIN_MS);
  }

  if (document.body.dataset.pending !== undefined) {
    tellProgress();
  }
})();
