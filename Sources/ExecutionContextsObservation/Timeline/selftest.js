function testItself() {
  const wrong = [];
  function check(name, isTrue) { if (!isTrue) wrong.push(name); }
  function event(kind, name, more) {
    const frame = canvas.getBoundingClientRect();
    const at = { clientX: frame.left + (more.x || 0), clientY: frame.top + (more.y || 0), bubbles: true, cancelable: true };
    canvas.dispatchEvent(new kind(name, Object.assign(at, more)));
  }
  const started = performance.now();
  draw();
  root.dataset.milliseconds = Math.round(performance.now() - started);
  check("everything is in view", view.from === 0 && view.span === total);
  const all = view.drawn;
  check("something is drawn", all > 0);
  document.getElementById("in").click();
  check("the button zooms in", view.span < total || total <= 50);
  event(WheelEvent, "wheel", { deltaY: -2000, x: view.width / 2, y: 60 });
  check("the wheel zooms in", view.span <= total / 20 || view.span === 50);
  draw();
  check("what is out of view is not drawn", view.drawn <= Math.max(all, jobs.length / 2));
  const from = view.from;
  event(PointerEvent, "pointerdown", { x: 300, y: 60, pointerId: 1 });
  event(PointerEvent, "pointermove", { x: 250, y: 60, pointerId: 1 });
  event(PointerEvent, "pointerup", { x: 250, y: 60, pointerId: 1 });
  check("dragging moves", view.from > from || total <= 50);
  event(KeyboardEvent, "keydown", { key: "0" });
  check("a key shows everything", view.from === 0 && view.span === total);
  event(KeyboardEvent, "keydown", { key: "ArrowRight" });
  check("a key chooses a job", view.chosen && document.getElementById("facts").textContent.includes("State"));
  const target = view.chosen;
  event(PointerEvent, "pointermove", { x: (x(beginOf(target)) + x(endOf(target))) / 2, y: rowMiddle(target) - box.scrollTop });
  check("pointing shows the facts", !tip.hidden && tip.textContent.includes(target.lane.name));
  event(PointerEvent, "pointerleave", {});
  check("and hides them", tip.hidden);
  event(KeyboardEvent, "keydown", { key: "ArrowDown" });
  check("a key goes to the next lane", lanes.length === 1 || view.chosen.lane !== target.lane);
  root.dataset.selftest = wrong.length === 0 ? "passed" : "failed: " + wrong.join("; ");
}
if (canvas && location.hash === "#selftest") testItself();
if (canvas && location.hash === "#chosen") choose(hops.length > 0 ? hops[hops.length >> 1].to : jobs[0]);
