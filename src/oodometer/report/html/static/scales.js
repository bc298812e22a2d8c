// Axes on which a line through models is straight (linear, logit, probit), and that line with its band.
"use strict";
/* eslint-disable no-loss-of-precision -- coefficients as they were published */
(function () {
  const FEWEST_MODELS = 3; // through two models a line always goes
  const PLACES = 81; // at which a curve is drawn
  const FAR = 40; // beyond it the normal distribution is 0 or 1 to the last digit

  // --- the scales ---------------------------------------------------------------------------------------------

  function horner(coefficients, x) {
    return coefficients.reduce((sum, one) => sum * x + one, 0);
  }

  // Wichura (1988), algorithm AS 241, PPND16: about 16 digits.
  const CENTRAL = [
    [2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
      1971.5909503065514427, 133.14166789178437745, 3.387132872796366608],
    [5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
      687.1870074920579083, 42.313330701600911252, 1],
  ];
  const MIDDLE = [
    [7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
      3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734],
    [1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
      0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1],
  ];
  const TAIL = [
    [2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
      0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772],
    [2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
      0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1],
  ];

  function probit(share) {
    if (share <= 0 || share >= 1) {
      return share <= 0 ? -Infinity : Infinity;
    }
    const q = share - 0.5;
    if (Math.abs(q) <= 0.425) {
      const r = 0.180625 - q * q;
      return (q * horner(CENTRAL[0], r)) / horner(CENTRAL[1], r);
    }
    const r = Math.sqrt(-Math.log(q < 0 ? share : 1 - share));
    const [[above, below], from] = r <= 5 ? [MIDDLE, 1.6] : [TAIL, 5];
    return (Math.sign(q) * horner(above, r - from)) / horner(below, r - from);
  }

  function normal(z) {
    if (Math.abs(z) > FAR) {
      return z > 0 ? 1 : 0;
    }
    const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
    if (Math.abs(z) < 3) {
      // Φ(z) = 1/2 + φ(z) (z + z³/3 + z⁵/(3·5) + …)
      let term = z;
      let sum = z;
      for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
        term *= (z * z) / odd;
        sum += term;
      }
      return 0.5 + density * sum;
    }
    // The tail as a continued fraction: φ(z) / (z + 1/(z + 2/(z + 3/(z + …))))
    const far = Math.abs(z);
    let below = far;
    for (let place = 120; place > 0; place -= 1) {
      below = far + place / below;
    }
    return z > 0 ? 1 - density / below : density / below;
  }

  const TO = {
    logit: (share) => Math.log(share) - Math.log1p(-share),
    probit: probit,
    linear: (share) => share,
  };
  const FROM = {
    logit: (value) => 1 / (1 + Math.exp(-value)),
    probit: normal,
    linear: (value) => value,
  };

  const hasPlace = (share, scale) => scale === "linear" || (share > 0 && share < 1);

  // Shares from the least to the greatest that have a place on the scale, evenly on it.
  function evenly(shares, scale) {
    const places = shares.map(TO[scale]).filter(Number.isFinite);
    const [low, high] = [Math.min(...places), Math.max(...places)];
    return Array.from({ length: PLACES }, (_, at) => FROM[scale](low + ((high - low) * at) / (PLACES - 1)));
  }

  // --- ticks --------------------------------------------------------------------------------------------------

  // Sets of round numbers for axes that end nowhere, the coarsest first: the first that has
  // enough of them in the range is taken.
  const mirrored = (low, middle) => [...low, ...middle, ...low.map((one) => Number((100 - one).toFixed(6)))];
  const stepped = (from, to, step) =>
    Array.from({ length: Math.round((to - from) / step) + 1 }, (_, at) => Number((from + at * step).toFixed(6)));
  const ENOUGH = 6;
  const ROUND = [
    mirrored([0.001, 0.1, 10], [50]),
    mirrored([0.001, 0.01, 0.1, 1, 10], [50]),
    mirrored([0.001, 0.01, 0.1, 1, 5, 10, 25], [50]),
    mirrored([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 40], [50]),
    mirrored([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 3, 5, 7], stepped(10, 90, 5)),
    mirrored(stepped(0.1, 1.9, 0.1), stepped(2, 98, 2)),
    stepped(1, 99, 1),
    stepped(0.5, 99.5, 0.5),
    stepped(0.2, 99.8, 0.2),
    stepped(0.1, 99.9, 0.1),
  ];

  // Places in per cent within a range of the scale, at least so many pixels apart.
  function ticks(range, scale, pixels, apart) {
    if (scale === "linear") {
      return evenTicks(range, Math.min(11, pixels / apart));
    }
    const per = pixels / (range[1] - range[0]);
    const found = ROUND.map((some) =>
      some
        .map((percent) => ({ at: TO[scale](percent / 100), text: String(percent) }))
        .sort((a, b) => a.at - b.at)
        .filter((one) => one.at >= range[0] && one.at <= range[1]),
    );
    const fits = (some) => some.every((one, place) => place === 0 || (one.at - some[place - 1].at) * per >= apart);
    const fitting = found.filter(fits);
    const longest = fitting.reduce((best, some) => (some.length > best.length ? some : best), []);
    return fitting.find((some) => some.length >= ENOUGH) || longest;
  }

  function evenTicks(range, most) {
    const wide = 100 * (range[1] - range[0]);
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50].find((one) => wide / one <= most) || 100;
    const first = Math.max(0, Math.ceil((100 * range[0]) / step - 1e-9));
    const last = Math.floor(Math.min(100, 100 * range[1]) / step + 1e-9);
    return Array.from({ length: Math.max(0, last - first + 1) }, function (_, place) {
      const percent = Number(((first + place) * step).toFixed(6));
      return { at: percent / 100, text: String(percent) };
    });
  }

  // --- the line -----------------------------------------------------------------------------------------------

  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const dot = (a, b) => a.reduce((sum, one, place) => sum + one * b[place], 0);
  const reach = (values) => Math.max(...values) - Math.min(...values);

  function onScale(x, y, scale) {
    const u = x.map(TO[scale]);
    const v = y.map(TO[scale]);
    const kept = u.map((one, place) => Number.isFinite(one) && Number.isFinite(v[place]));
    const of = (values) => values.filter((_, place) => kept[place]);
    return { u: of(u), v: of(v), leftOut: kept.filter((one) => !one).length };
  }

  // Why no line can be drawn; nothing where one can.
  function whyNot(places) {
    const lost = places.leftOut ? ` (${places.leftOut} at exactly 0 % or 100 % left out)` : "";
    if (places.u.length < FEWEST_MODELS) {
      return `${places.u.length} model${places.u.length === 1 ? "" : "s"}${lost}: a line needs at least ${FEWEST_MODELS}`;
    }
    for (const [name, values] of [["x", places.u], ["y", places.v]]) {
      if (reach(values) === 0) {
        return `all models have the same accuracy on the ${name} axis: no line is determined`;
      }
    }
    return "";
  }

  // The least-squares line of y on x (shares, one per model) on a scale: {slope, intercept, r2, n, leftOut}, or {why}.
  function fitLine(x, y, scale) {
    const places = onScale(x, y, scale);
    const why = whyNot(places);
    if (why) {
      return { why: why };
    }
    const [meanU, meanV] = [mean(places.u), mean(places.v)];
    const du = places.u.map((one) => one - meanU);
    const dv = places.v.map((one) => one - meanV);
    const slope = dot(du, dv) / dot(du, du);
    const rest = dv.map((one, place) => one - slope * du[place]);
    return {
      slope: slope,
      intercept: meanV - slope * meanU,
      r2: 1 - dot(rest, rest) / dot(dv, dv),
      n: du.length,
      leftOut: places.leftOut,
    };
  }

  // How far a line may lie from the true one, over its models: the covariances of intercept and slope, as
  // stats/line_intervals.py has them: by the residuals, and where models scatter differently along the line (HC3).
  function spreadOf(x, y, scale, line) {
    const { u, v } = onScale(x, y, scale);
    const middle = mean(u);
    const squares = dot(u.map((one) => one - middle), u.map((one) => one - middle));
    const inverse = [1 / u.length + (middle * middle) / squares, -middle / squares, 1 / squares];
    const rest = v.map((one, place) => one - line.intercept - line.slope * u[place]);
    const even = dot(rest, rest) / (u.length - 2);
    const uneven = [0, 0, 0];
    u.forEach(function (at, place) {
      // A model that alone determines a slope lies on the line.
      const alone = Math.max(1 - along(inverse, at), 1e-9);
      const pull = rest[place] / alone;
      const [intercept, slope] = [pull * (inverse[0] + inverse[1] * at), pull * (inverse[1] + inverse[2] * at)];
      uneven[0] += intercept * intercept;
      uneven[1] += intercept * slope;
      uneven[2] += slope * slope;
    });
    return { byModels: inverse.map((one) => one * even), byUnevenModels: uneven, free: u.length - 2 };
  }

  // The variance of intercept + slope * at, of a covariance [intercept, both, slope].
  const along = (covariance, at) => covariance[0] + 2 * at * covariance[1] + at * at * covariance[2];

  // Between which slopes the true one lies; ``student``: the quantiles of Student's t by degrees of freedom, from 1.
  function slopeEnds(line, spread, student) {
    const half = student[spread.free - 1] * Math.sqrt(Math.max(spread.byModels[2], spread.byUnevenModels[2]));
    return [line.slope - half, line.slope + half];
  }

  // Between which shares the true line lies at each share: [[x, low, high], ...].
  function band(line, spread, scale, shares, student) {
    return shares.map(function (share) {
      const at = TO[scale](share);
      const variance = Math.max(along(spread.byModels, at), along(spread.byUnevenModels, at));
      const half = student[spread.free - 1] * Math.sqrt(variance);
      const expected = line.intercept + line.slope * at;
      // At 0 and 1 all rising lines of a logit or probit scale meet.
      return [share, ...[-half, half].map((part) => FROM[scale](Number.isFinite(at) ? expected + part : line.slope * at))];
    });
  }

  window.oodometer.scales = {
    names: Object.keys(TO),
    to: (share, scale) => TO[scale](share),
    from: (value, scale) => FROM[scale](value),
    hasPlace: hasPlace,
    evenly: evenly,
    ticks: ticks,
    fitLine: fitLine,
    spreadOf: spreadOf,
    slopeEnds: slopeEnds,
    band: band,
  };
})();
