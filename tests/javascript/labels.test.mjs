// Names beside points: short, without tags, and where there is room.
import assert from "node:assert/strict";
import { test } from "node:test";

import { page } from "./page.mjs";

const { labels } = page("labels");

test("a long name keeps its beginning and its end", () => {
  assert.equal(labels.short("efficientnet-b8-advprop-autoaug", 15), "efficien…utoaug");
  assert.equal(labels.short("short", 15), "short");
});

test("a stranger's name becomes no tag", () => {
  assert.equal(labels.plain("</b><img src=x>&"), "&lt;/b&gt;&lt;img src=x&gt;&amp;");
  assert.ok(!labels.wrapped("<script>alert(1)</script>", 9).includes("<script"));
});

test("no name stands over a point or another name", () => {
  const points = [0, 1, 2, 3].map((at) => ({ u: 0, v: 0, x: 200 + 12 * at, y: 200, reach: 5, name: `model-${at}` }));
  const found = labels.placed(points, [0, 1, 2, 3], [[], []], { width: 640, height: 480 });
  const boxes = found.map(({ point, place, text }) => {
    const [x, y, half] = [point.x + place.x, point.y + place.y, (6 * text.length + 4) / 2];
    return { left: x - half, right: x + half, top: y - 7.5, bottom: y + 7.5 };
  });
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  assert.equal(found.length, 4);
  boxes.forEach((box, at) => {
    boxes.slice(at + 1).forEach((other) => assert.ok(apart(box, other)));
    points.forEach((point) => assert.ok(apart(box, { left: point.x - 5, right: point.x + 5, top: 195, bottom: 205 })));
  });
});
