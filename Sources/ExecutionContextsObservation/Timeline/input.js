const tip = document.getElementById("tip");

function look(from, span) {
  view.span = Math.min(total, Math.max(50, span));
  view.from = Math.min(Math.max(0, from), total - view.span);
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
  const lane = lanes.find(function (l) { return y >= l.top && y < l.stripTop; });
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

function showFacts(element, job) {
  element.replaceChildren();
  if (!job) return;
  const lane = lanes[job.lane], list = document.createElement("dl"), name = document.createElement("strong");
  name.textContent = nameOf(job);
  function addFact(term, words) {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = term;
    dd.textContent = words;
    list.append(dt, dd);
  }
  addFact("State", job.state);
  addFact(lane.isAsync ? "Made" : "Submitted", "at " + inWords(job.enqueued)
    + (job.submitter >= 0 ? " by " + nameOf(jobs[job.submitter]) : ""));
  if (!lane.isAsync) {
    addFact("Waited", inWords((job.started >= 0 ? job.started : endOf(job)) - job.enqueued)
      + (job.behind >= 0 ? ", behind " + nameOf(jobs[job.behind]) : ""));
  }
  if (job.started >= 0) {
    const lasted = inWords(endOf(job) - job.started);
    addFact(lane.isAsync ? "Took" : "Ran", lasted + (job.ended < 0 ? " so far" : "") + ", thread " + job.thread);
  }
  if (job.completer >= 0) addFact("Completed", "by " + nameOf(jobs[job.completer]));
  if (job.submittedCount > 0) addFact("Submitted", job.submittedCount + (job.submittedCount === 1 ? " job" : " jobs"));
  element.append(name, list);
}

function point(job, left, top) {
  if (job !== view.pointed) { view.pointed = job; showFacts(tip, job); show(); }
  tip.hidden = !job;
  if (!job) return;
  const frame = canvas.getBoundingClientRect();
  const wide = tip.offsetWidth, tall = tip.offsetHeight;
  const beside = frame.left + left + 16, below = frame.top + top + 18;
  tip.style.left = Math.max(4, Math.min(beside, window.innerWidth - wide - 4)) + "px";
  tip.style.top = Math.max(4, below + tall > window.innerHeight ? below - tall - 34 : below) + "px";
}

function choose(job) {
  view.chosen = job;
  showFacts(document.getElementById("facts"), job);
  if (job) {
    const from = beginOf(job), until = endOf(job);
    if (from < view.from || from > view.from + view.span) look((from + until) / 2 - view.span / 2, view.span);
    const top = rowTop(job);
    if (top < box.scrollTop + axis) box.scrollTop = top - axis - headline;
    if (top > box.scrollTop + view.height - 20) box.scrollTop = top - view.height + 40;
  }
  show();
}

// Selects the neighbour in a lane, or the job of the next lane that is nearest in time.
function step(along, across) {
  const now = view.chosen;
  if (!now) return choose(lanes.find(function (l) { return l.order.length > 0; }).order[0]);
  const order = lanes[now.lane].order;
  if (along) return choose(order[Math.min(order.length - 1, Math.max(0, order.indexOf(now) + along))]);
  for (let n = now.lane + across; n >= 0 && n < lanes.length; n += across) {
    const other = lanes[n].order;
    if (other.length === 0) continue;
    const index = firstIndex(other, function (p) { return beginOf(p) >= beginOf(now); });
    return choose(other[Math.min(index, other.length - 1)]);
  }
}

const keys = {
  ArrowLeft: function () { step(-1, 0); }, ArrowRight: function () { step(1, 0); },
  ArrowUp: function () { step(0, -1); }, ArrowDown: function () { step(0, 1); },
  "+": function () { zoom(0.5); }, "=": function () { zoom(0.5); }, "-": function () { zoom(2); },
  "0": function () { look(0, total); }, Escape: function () { choose(null); point(null); }
};

// The pointers that are down: one moves, two zoom.
const down = new Map();
let wasMoved = 0;

function position(event) {
  const frame = canvas.getBoundingClientRect();
  return { x: event.clientX - frame.left, y: event.clientY - frame.top };
}

function dragged(event) {
  const before = down.get(event.pointerId), now = position(event);
  if (down.size === 2) {
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
  document.getElementById("all").onclick = function () { look(0, total); };
  document.getElementById("hops").onchange = show;
  canvas.addEventListener("wheel", function (event) {
    event.preventDefault();
    const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (across) move(event.deltaX || event.deltaY); else zoom(Math.exp(event.deltaY * 0.002), position(event).x);
  }, { passive: false });
  canvas.addEventListener("pointerdown", function (event) { wasMoved = 0; down.set(event.pointerId, position(event)); });
  window.addEventListener("pointermove", function (event) { if (down.has(event.pointerId)) dragged(event); });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, function (event) {
      if (down.delete(event.pointerId) && end === "pointerup" && wasMoved < 4) {
        const at = position(event);
        choose(jobAt(at.x, at.y));
      }
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
  fit();
}
if (canvas) listen();
