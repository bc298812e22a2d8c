// Names beside points, where there is room: never over a point, a line or another name.
"use strict";
(function () {
  const HEIGHT = 15;
  const FONT = 12;
  const LONGEST = 34;
  const WIDE = 500; // from here on the line to a name may cross another line, if there is no other way
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

  function width(text) {
    pen.font = `${FONT}px ${window.oodometer.theme.font || "sans-serif"}`;
    return pen.measureText(text).width + 4;
  }

  // The beginning and the end of a name that is too long.
  function short(name, longest) {
    const most = longest || LONGEST;
    if (name.length <= most) {
      return name;
    }
    const end = Math.floor((most - 1) * 0.45);
    return `${name.slice(0, most - 1 - end)}…${name.slice(-end)}`;
  }

  // A name for plotly in lines of at most so many characters, broken after a sign where it can be.
  function wrapped(name, most) {
    const pieces = name.match(/[^_\-./ ]+[_\-./ ]?|[_\-./ ]/gu) || [""];
    const parts = pieces.flatMap((piece) => piece.match(new RegExp(`.{1,${most}}`, "gsu")));
    const lines = [""];
    for (const piece of parts) {
      const fits = lines[lines.length - 1].length + piece.length <= most;
      fits ? (lines[lines.length - 1] += piece) : lines.push(piece);
    }
    return lines.map(plain).join("<br>");
  }

  // Text for plotly, which reads some tags.
  function plain(text) {
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  }

  const cross = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

  function around(x, y, reach) {
    return { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
  }

  // Where a name may stand: beside its point, then further away with a line to it.
  function places(wide, reach) {
    const half = wide / 2;
    const near = reach + 3;
    const found = [
      [near + half, 0], [-near - half, 0], [0, -near - HEIGHT / 2], [0, near + HEIGHT / 2],
      [near + half - 2, -near - 3], [-near - half + 2, -near - 3], [near + half - 2, near + 3], [-near - half + 2, near + 3],
    ].map(([x, y]) => ({ x: x, y: y, far: false }));
    for (const away of [24, 44, 70]) {
      for (const [across, up] of [[0.7, -1], [-0.7, -1], [0.7, 1], [-0.7, 1], [-1.4, -0.4], [1.4, -0.4], [-1.4, 0.4], [1.4, 0.4]]) {
        found.push({ x: Math.sign(across) * half + across * away, y: up * away, far: true });
      }
    }
    return found;
  }

  function boxAt(point, place, wide) {
    const [x, y] = [point.x + place.x, point.y + place.y];
    return { left: x - wide / 2, right: x + wide / 2, top: y - HEIGHT / 2, bottom: y + HEIGHT / 2 };
  }

  const within = (box, area) => box.left >= 2 && box.top >= 2 && box.right <= area.width - 2 && box.bottom <= area.height - 2;

  // Places along the line from a point to its name, dense enough that no other line slips through.
  function leader(point, place) {
    const long = Math.hypot(place.x, place.y);
    const steps = Math.floor((long - point.reach - 6) / 3);
    const shares = Array.from({ length: Math.max(0, steps) }, (_, at) => (point.reach + 6 + 3 * at) / long);
    return shares.map((share) => around(point.x + place.x * share, point.y + place.y * share, 2));
  }

  // Whether a point is seen, after zooming.
  const inside = ({ x, y }, area) => x >= 0 && x <= area.width && y >= 0 && y <= area.height;

  const free = (box, boxes) => !boxes.some((other) => cross(box, other));
  const freeAll = (some, boxes) => some.every((box) => free(box, boxes));

  // Which of the wanted points get their name, and where. Points and what is drawn besides are in pixels; of the things
  // that are drawn, names keep off the first always, and off the others (intervals) as far as they can.
  function placed(points, wanted, drawn, area) {
    const taken = points.map((point) => around(point.x, point.y, point.reach));
    const [always, maybe] = drawn.map((some) => some.map((at) => around(at.x, at.y, 1.5)));
    const found = [];
    for (const at of wanted) {
      const text = short(points[at].name);
      const wide = width(text);
      const others = taken.filter((_, place) => place !== at);
      const good = places(wide, points[at].reach)
        .map((place) => ({ place: place, box: boxAt(points[at], place, wide), line: place.far ? leader(points[at], place) : [] }))
        .filter(({ box, line }) => within(box, area) && free(box, taken) && free(box, always) && freeAll(line, others));
      const better = good.filter(({ line }) => freeAll(line, always));
      const best = better.find(({ box }) => free(box, maybe)) || better[0] || (area.width > WIDE ? good[0] : undefined);
      if (best) {
        taken.push(best.box, ...best.line);
        found.push({ point: points[at], place: best.place, text: text });
      }
    }
    return found;
  }

  // The same as plotly's annotations.
  function annotations(found) {
    const now = window.oodometer.theme;
    return found.map(({ point, place, text }) =>
      Object.assign(
        { x: point.u, y: point.v, text: plain(text), font: { size: FONT, color: now.ink }, captureevents: false },
        place.far
          ? { showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: now.soft, ax: place.x, ay: place.y, standoff: point.reach }
          : { showarrow: false, xshift: place.x, yshift: -place.y },
      ),
    );
  }

  window.oodometer.labels = { placed: placed, annotations: annotations, inside: inside, short: short, wrapped: wrapped, plain: plain };
})();
