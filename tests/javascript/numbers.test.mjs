// Numbers are written as Python writes them: half to even, a true minus, a sign for differences.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page } from "./page.mjs";

const { numbers } = page("numbers");

test("shares are per cent with one digit, and what is not known is a dash", () => {
  assert.equal(numbers.percent(0.7412), "74.1");
  assert.equal(numbers.percent(null), "–");
  assert.equal(numbers.percent(Number.NaN), "–");
});

test("differences have a sign, with a minus as wide as a plus", () => {
  assert.deepEqual([0.1, -0.0225, 0].map(numbers.points), ["+10.0", "−2.2", "+0.0"]);
});

test("a number just between two goes to the even one, as Python's round", () => {
  // source: [f"{one:.1f}" for one in (0.25, 0.75, -0.25, 12.5)] and f"{2.5:.0f}" of Python
  assert.deepEqual([0.25, 0.75, -0.25, 12.5].map((value) => numbers.number(value, 1)), ["0.2", "0.8", "−0.2", "12.5"]);
  assert.equal(numbers.number(2.5, 0), "2");
});

test("counts have commas", () => {
  assert.equal(numbers.count(50000), "50,000");
  assert.equal(numbers.count(undefined), "?");
});

test("an estimate stands with its interval where it has one", () => {
  assert.equal(numbers.estimate([0.741, 0.7127, 0.7679]), "74.1 % [71.3, 76.8]");
  assert.equal(numbers.estimate([0.741, null, null]), "74.1 %");
});

test("what is below the least is said to be", () => {
  assert.equal(numbers.written(0.00001, { unit: "number", digits: 3, least: 0.001 }), "< 0.001");
});
