// Rows of tables: their order, the digits and the room of columns, and CSV.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page, plain } from "./page.mjs";

const { rows } = page("numbers", "table_rows");

test("estimates are sorted by value, and what is not known stands last both ways", () => {
  const cells = [[[0.5, 0.4, 0.6, 10]], [null], [[0.9, null, null, null]], [0.7]];
  assert.deepEqual(plain(rows.order(cells, 0, true)), [2, 3, 0, 1]);
  assert.deepEqual(plain(rows.order(cells, 0, false)), [0, 3, 2, 1]);
});

test("names are sorted as people count, and equal ones keep their order", () => {
  const cells = [["net10"], ["net9"], ["Net9"], ["net11"]];
  assert.deepEqual(plain(rows.order(cells, 0, false)), [1, 2, 0, 3]);
});

test("the caption says the order that there is", () => {
  assert.equal(rows.orderWords({ title: "images", unit: "count" }, true), "By images, greatest first.");
  assert.equal(rows.orderWords({ title: "model", unit: "text" }, false), "By model, A to Z.");
});

test("CSV has full precision, four columns for estimates, and no formulas", () => {
  const text = rows.csvOf(["model", "top-1"], [['a "b", c', [2 / 3, 0.5, 0.75, 12]], ["=1+1", null], ["-5", [0.25]]]);
  assert.deepEqual(text.split("\r\n"), [
    "model,top-1,top-1 low,top-1 high,top-1 n",
    `"a ""b"", c",${2 / 3},0.5,0.75,12`,
    "'=1+1,,,,",
    "-5,0.25",
    "",
  ]);
});

test("digits follow the largest number, and room the longest text within reason", () => {
  assert.equal(rows.digitsOf({ title: "x", unit: "number" }, [[0.5, 0.4, 0.6], 3]), 3);
  assert.equal(rows.digitsOf({ title: "x", unit: "number" }, [-20, null]), 1);
  assert.equal(rows.digitsOf({ title: "x", unit: "percent", digits: 2 }, [0.5]), 2);
  assert.equal(rows.roomOf({ title: "m", unit: "text" }, ["abc", null, "x".repeat(99)]), 36);
  assert.equal(rows.roomOf({ title: "a long title above numbers", unit: "percent" }, []), 14);
});

test("intervals are drawn between the ends of their column", () => {
  const cells = [[0.5, 0.4, 0.6], [0.7, 0.65, 0.9], [0.1, null, null], null];
  assert.deepEqual(plain(rows.endsOf({ title: "x", unit: "percent", bar: true }, cells)), [0.4, 0.9]);
  assert.equal(rows.endsOf({ title: "x", unit: "percent" }, cells), null);
  assert.deepEqual(plain(rows.endsOf({ title: "x", unit: "points", bar: true }, cells)), [-0.9, 0.9]); // 0 in the middle
});
