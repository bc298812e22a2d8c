// Pictures at full size: whole numbers of times larger, and round and round.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page } from "./page.mjs";

const { enlarging } = page("enlarge");

test("an image is enlarged by a whole number, never above what fits or sixteen times, never below its own size", () => {
  assert.equal(enlarging.timesLarger(32, 32, 1000, 500), 15);
  assert.equal(enlarging.timesLarger(8, 8, 1000, 500), 16);
  assert.equal(enlarging.timesLarger(300, 200, 1000, 500), 2);
  assert.equal(enlarging.timesLarger(4000, 3000, 1000, 500), 1);
});

test("after the last picture comes the first, and before the first the last", () => {
  assert.equal(enlarging.next(2, 1, 3), 0);
  assert.equal(enlarging.next(0, -1, 3), 2);
  assert.equal(enlarging.next(0, 1, 1), 0);
});
