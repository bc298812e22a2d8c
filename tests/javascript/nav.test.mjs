// Which section is being read.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page } from "./page.mjs";

const { current } = page("nav");
const away = { reached: false, wanted: null };

test("the last section that begins above the line is being read", () => {
  assert.equal(current([-900, -200, 60, 400], 90, away), 2);
});

test("a short section that was gone to is marked, not the one that begins below it", () => {
  assert.equal(current([-900, -300, 67, 228, 900], 90, away), 2);
});

test("at the end of the page the last is, unless one was gone to that can come no higher", () => {
  assert.equal(current([-900, -300, 200, 500], 90, { reached: true, wanted: null }), 3);
  assert.equal(current([-900, -300, 200, 500], 90, { reached: true, wanted: 2 }), 2);
  assert.equal(current([-900, -300, 200, 500], 90, { reached: true, wanted: 0 }), 3);
});
