// Scripts of the pages in a window that has no page: what is pure of them can be tested without a browser.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

const STATIC = new URL("../../src/oodometer/report/html/static/", import.meta.url);

// A document in which nothing is.
const document = {
  querySelectorAll: () => [],
  getElementById: () => null,
  addEventListener: () => {},
  createElement: () => ({ getContext: () => ({ measureText: (text) => ({ width: 6 * text.length }) }) }),
};

/** ``window.oodometer`` after these scripts ran, in this order. */
export function page(...names) {
  const window = { oodometer: { theme: { font: "sans-serif" } } };
  const context = createContext({ window, document, Intl });
  for (const name of names) {
    runInContext(readFileSync(new URL(`${name}.js`, STATIC), "utf8"), context, { filename: `${name}.js` });
  }
  return window.oodometer;
}

/** A value without the prototypes of the other context, so that it can be compared. */
export const plain = (value) => JSON.parse(JSON.stringify(value));
