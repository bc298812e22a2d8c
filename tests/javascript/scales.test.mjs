// The scales on which lines are straight, and such a line.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page } from "./page.mjs";

const { scales } = page("scales");
const near = (a, b, error = 1e-12) => assert.ok(Math.abs(a - b) <= error, `${a} is not ${b}`);

test("there and back on every scale", () => {
  for (const name of scales.names) {
    for (const share of [1e-9, 0.003, 0.25, 0.5, 0.77, 0.999]) {
      near(scales.from(scales.to(share, name), name), share, 1e-14);
    }
  }
});

test("probit and logit are the known functions", () => {
  near(scales.to(0.975, "probit"), 1.959963984540054); // source: scipy.stats.norm.ppf(0.975)
  near(scales.to(1e-10, "probit"), -6.361340902404056, 1e-11); // source: scipy.stats.norm.ppf(1e-10)
  near(scales.to(0.8, "logit"), Math.log(4)); // by its definition
});

test("models on a line give that line", () => {
  const x = [0.5, 0.6, 0.7, 0.8];
  const y = x.map((share) => scales.from(0.9 * scales.to(share, "logit") - 0.5, "logit"));
  const line = scales.fitLine(x, y, "logit");
  near(line.slope, 0.9);
  near(line.intercept, -0.5);
  near(line.r2, 1);
});

test("two models give none, and it is said why", () => {
  assert.match(scales.fitLine([0.5, 0.6], [0.4, 0.5], "logit").why, /at least 3/);
});
