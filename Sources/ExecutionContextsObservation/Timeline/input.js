function look(from, span) {
  view.span = Math.min(total, Math.max(50, span));
  view.from = Math.min(Math.max(first, from), first + total - view.span);
  remember();
  show();
}

function zoom(factor, pixel) {
  const at = pixel === undefined ? view.width / 2 : pixel, time = timeAt(at);
  const span = Math.min(total, Math.max(50, view.span * factor));
  look(time - (at - margin) / (view.width - 2 * margin) * span, span);
}

function move(pixels) { look(view.from + pixels / (view.width - 2 * margin) * view.span, view.span); }

// Returns the job at a position of the screen, or within a few pixels of it.
function jobAt(left, top) {
  const y = top + box.scrollTop;
  if (top < axis) return null;
  const lane = lanes.find(function (l) { return l.isShown && y >= l.top && y < l.stripTop; });
  if (!lane) return null;
  const row = lane.rows[Math.floor((y - lane.top) / lane.rowHeight)] || lane.never;
  const time = timeAt(left);
  const next = firstIndex(row, function (p) { return beginOf(p) > time; });
  let best = null, distance = 4;
  for (let n = Math.max(0, next - (row === lane.never ? 200 : 3)); n < Math.min(row.length, next + 2); n++) {
    const away = Math.max(x(beginOf(row[n])) - left, left - x(endOf(row[n])), 0);
    if (away < distance) { best = row[n]; distance = away; }
  }
  return best;
}

// Selects the neighbour in a lane, or the job of the next lane that is nearest in time.
function step(along, across) {
  const now = view.chosen;
  if (!now) {
    const lane = lanes.find(function (l) { return l.isShown && l.order.length > 0; });
    return lane && choose(lane.order.find(isShown));
  }
  const order = now.lane.order.filter(isShown);
  if (along) return choose(order[Math.min(order.length - 1, Math.max(0, order.indexOf(now) + along))]);
  for (let n = lanes.indexOf(now.lane) + across; n >= 0 && n < lanes.length; n += across) {
    const other = lanes[n].isShown ? lanes[n].order.filter(isShown) : [];
    if (other.length === 0) continue;
    const index = firstIndex(other, function (p) { return beginOf(p) >= beginOf(now); });
    return choose(other[Math.min(index, other.length - 1)]);
  }
}

const keys = {
  ArrowLeft: function () { step(-1, 0); }, ArrowRight: function () { step(1, 0); },
  ArrowUp: function () { step(0, -1); }, ArrowDown: function () { step(0, 1); },
  "+": function () { zoom(0.5); }, "=": function () { zoom(0.5); }, "-": function () { zoom(2); },
  "0": function () { look(first, total); }, "/": function () { find.focus(); },
  f: function () { lookAt(view.chosen); }, r: function () { selectVisible(); },
  Escape: function () { selectRange(null); choose(null); point(null); }
};

/// Zooms to a job, with as much around it.
function lookAt(job) {
  if (!job) return;
  const from = job.enqueued, span = Math.max(50, endOf(job) - from);
  look(from - span / 2, span * 2);
}

// MARK: - The range and the filter

const find = document.getElementById("find");
const rangeButton = document.getElementById("range");

function selectRange(range) {
  view.range = range;
  showTotals();
  remember();
  show();
}
function selectVisible() { selectRange({ from: view.from, until: view.from + view.span }); }

function setFilter(words) {
  find.value = words;
  filter = words.trim().toLowerCase();
  arrange();
  showTotals();
  remember();
  fit();
}

// MARK: - The address

/// Keeps the view in the address, so that it can be shared; not on a live page, whose jobs vanish.
function remember() {
  if (isLive || !view.isReady) return;
  const words = [];
  if (view.span < total) words.push("view=" + Math.round(view.from) + "," + Math.round(view.span));
  if (view.chosen) words.push("job=" + view.chosen.index);
  if (view.range) words.push("range=" + Math.round(view.range.from) + "," + Math.round(view.range.until));
  if (filter) words.push("find=" + encodeURIComponent(filter));
  clearTimeout(view.timer);
  view.timer = setTimeout(function () { history.replaceState(null, "", "#" + words.join("&")); }, 100);
}

function recall() {
  const known = new URLSearchParams(location.hash.slice(1));
  function numbers(name) {
    const found = (known.get(name) || "").split(",").map(Number);
    return found.length === 2 && found.every(Number.isFinite) && known.get(name) ? found : null;
  }
  const range = numbers("range"), seen = numbers("view");
  if (known.get("find")) setFilter(known.get("find"));
  if (range) selectRange({ from: range[0], until: range[1] });
  if (known.get("job") && jobs[known.get("job")]) choose(jobs[known.get("job")]);
  if (seen) look(seen[0], seen[1]);
}

// The pointers that are down: one moves, two zoom.
const down = new Map();
let wasMoved = 0;
// Where a range was started, with the button or the shift key.
let rangeFrom = null;

function position(event) {
  const frame = canvas.getBoundingClientRect();
  return { x: event.clientX - frame.left, y: event.clientY - frame.top };
}

function dragged(event) {
  const before = down.get(event.pointerId), now = position(event);
  if (rangeFrom !== null) {
    const times = [rangeFrom, timeAt(now.x)].sort(function (a, b) { return a - b; });
    view.range = { from: times[0], until: times[1] };
    show();
  } else if (down.size === 2) {
    const other = [...down].find(function (entry) { return entry[0] !== event.pointerId; })[1];
    const then = Math.max(20, Math.abs(before.x - other.x)), apart = Math.max(20, Math.abs(now.x - other.x));
    zoom(then / apart, (now.x + other.x) / 2);
  } else {
    move(before.x - now.x);
    if (event.pointerType === "mouse") box.scrollTop += before.y - now.y;
  }
  wasMoved += Math.abs(before.x - now.x) + Math.abs(before.y - now.y);
  down.set(event.pointerId, now);
}

function listen() {
  document.getElementById("in").onclick = function () { zoom(0.5); };
  document.getElementById("out").onclick = function () { zoom(2); };
  document.getElementById("all").onclick = function () { look(first, total); };
  document.getElementById("hops").onchange = show;
  canvas.addEventListener("wheel", function (event) {
    event.preventDefault();
    const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (across) move(event.deltaX || event.deltaY); else zoom(Math.exp(event.deltaY * 0.002), position(event).x);
  }, { passive: false });
  find.oninput = function () { setFilter(find.value); };
  find.onkeydown = function (event) {
    if (event.key === "Escape") setFilter("");
    if (event.key === "Enter") step(1, 0);
  };
  rangeButton.onclick = function () {
    const isOn = rangeButton.getAttribute("aria-pressed") === "true";
    if (isOn) selectRange(null);
    rangeButton.setAttribute("aria-pressed", !isOn);
  };
  canvas.addEventListener("pointerdown", function (event) {
    wasMoved = 0;
    const at = position(event);
    down.set(event.pointerId, at);
    rangeFrom = event.shiftKey || rangeButton.getAttribute("aria-pressed") === "true" ? timeAt(at.x) : null;
  });
  window.addEventListener("pointermove", function (event) { if (down.has(event.pointerId)) dragged(event); });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, function (event) {
      if (!down.delete(event.pointerId)) return;
      const at = position(event);
      if (end === "pointerup" && wasMoved < 4) choose(jobAt(at.x, at.y));
      else if (rangeFrom !== null) selectRange(view.range);
      rangeFrom = null;
    });
  }
  canvas.addEventListener("pointermove", function (event) {
    const at = position(event);
    point(down.size > 0 ? null : jobAt(at.x, at.y), at.x, at.y);
  });
  canvas.addEventListener("pointerleave", function () { point(null); });
  canvas.addEventListener("keydown", function (event) {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener("focus", function () { if (!view.chosen && canvas.matches(":focus-visible")) step(1, 0); });
  box.addEventListener("scroll", show);
  window.addEventListener("resize", fit);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  showTotals();
  fit();
  recall();
  view.isReady = true;
}
if (canvas) listen();
