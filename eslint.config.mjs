// Rules for the scripts of the pages (plain scripts that share window.oodometer) and for their tests (modules of node).
import js from "@eslint/js";

const PAGE = [
  "window", "document", "navigator", "getComputedStyle", "requestAnimationFrame", "setTimeout", "URL", "URLSearchParams",
  "Blob", "Response", "DecompressionStream", "CustomEvent", "IntersectionObserver", "ResizeObserver", "atob", "fetch", "Element",
  "HTMLImageElement",
];
const NODE = ["console", "process", "URL"];

const readonly = (names) => Object.fromEntries(names.map((name) => [name, "readonly"]));

const RULES = {
  ...js.configs.recommended.rules,
  "curly": "error",
  "eqeqeq": "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-shadow": "error",
  "no-var": "error",
  "prefer-const": "error",
  "strict": ["error", "global"],
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property, message: "a stranger's text never becomes HTML" })),
  ],
};

export default [
  { ignores: ["**/node_modules/", ".venv/"] },
  {
    files: ["src/**/static/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "script", globals: readonly(PAGE) },
    rules: RULES,
  },
  {
    files: ["tests/javascript/*.mjs", "*.mjs"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: readonly(NODE) },
    rules: { ...RULES, strict: "off" },
  },
];
