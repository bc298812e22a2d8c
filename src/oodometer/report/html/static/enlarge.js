// Pictures at their full size: a click (or Enter) shows one pixel by pixel, arrows go to the next, Escape closes.
"use strict";
(function () {
  const make = window.oodometer.make;
  const MOST = 16; // times that an image is enlarged
  const SHARP = 64; // pixels: what is no larger is shown with sharp edges

  // How many times larger an image is shown: by a whole number, so that every pixel is a square; at least as it is.
  function timesLarger(width, height, roomWide, roomHigh) {
    return Math.max(1, Math.min(MOST, Math.floor(Math.min(roomWide / width, roomHigh / height))));
  }

  // The place of the next picture, round and round.
  function next(at, step, n) {
    return (at + step + n) % n;
  }

  function siblings(image) {
    return [...image.closest(".pictures").querySelectorAll("img")];
  }

  function build() {
    const picture = make("img", { alt: "" });
    const words = make("p", { "aria-live": "polite" });
    const dialog = make("dialog", { className: "enlarged", "aria-label": "Picture at full size" }, picture, words);
    /** @type {HTMLImageElement | null} */
    let shown = null;

    function show(image) {
      shown = image;
      const times = timesLarger(image.naturalWidth, image.naturalHeight, window.innerWidth * 0.9, window.innerHeight * 0.75);
      picture.src = image.src;
      picture.alt = image.alt;
      picture.width = image.naturalWidth * times;
      picture.height = image.naturalHeight * times;
      const size = `${image.naturalWidth} × ${image.naturalHeight} pixels${times > 1 ? `, ${times} times as large` : ""}`;
      const lines = [...image.parentElement.querySelectorAll("span")].map((line) => line.textContent);
      words.textContent = [...lines, size].join(" · ");
      if (!dialog.open) {
        dialog.showModal();
      }
    }

    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => shown && shown.focus());
    dialog.addEventListener("keydown", function (event) {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (step) {
        event.preventDefault();
        const all = siblings(shown);
        show(all[next(all.indexOf(shown), step, all.length)]);
      }
    });
    document.body.append(dialog);
    return show;
  }

  /** @type {((image: HTMLImageElement) => void) | null} */
  let show = null;

  function open(image) {
    show ??= build();
    show(image);
  }

  function sharpen(image) {
    if (Math.max(image.naturalWidth, image.naturalHeight) <= SHARP) {
      image.style.imageRendering = "pixelated";
    }
  }

  // Pictures that are there, or come later, can be reached by the keyboard.
  function reachable(root) {
    for (const image of root.querySelectorAll(".pictures img:not([tabindex])")) {
      image.tabIndex = 0;
      image.setAttribute("role", "button");
      image.complete ? sharpen(image) : image.addEventListener("load", () => sharpen(image), { once: true });
    }
  }

  document.addEventListener("click", function (event) {
    const image = event.target instanceof Element && event.target.closest(".pictures img");
    if (image) {
      open(image);
    }
  });
  document.addEventListener("keydown", function (event) {
    const image = event.target instanceof HTMLImageElement && event.target.matches(".pictures img") && event.target;
    if (image && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      open(image);
    }
  });
  reachable(document);
  Object.assign(window.oodometer, { reachable: reachable, enlarging: { timesLarger: timesLarger, next: next } });
})();
