// Marks of models: smaller where there are more, and colours that let others through.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page, plain } from "./page.mjs";

const { marks } = page("marks");

test("marks shrink with the number of models, and never vanish", () => {
  const sizes = [2, 20, 100, 338, 1556, 43000, 1e7].map(marks.sizeFor);
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  assert.ok(sizes[4] < 0.5 * sizes[0], `${sizes[4]} pixels for 1,556 models`);
  assert.ok(sizes[6] >= 3);
});

test("a colour lets others through", () => {
  assert.equal(marks.tinted("#0072b2", 0.4), "rgba(0,114,178,0.4)");
  assert.equal(marks.tinted("not a colour", 0.4), "rgba(128,128,128,0.4)");
});

test("bars reach from the value to the ends, and are nothing where there is none", () => {
  const bars = plain(marks.bars([0.5, 0.7], [0.25, null], [1, null], "red"));
  assert.deepEqual([bars.arrayminus, bars.array], [[0.25, 0], [0.5, 0]]);
});
