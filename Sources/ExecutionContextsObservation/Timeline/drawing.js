const canvas = document.getElementById("view");
const box = document.getElementById("box");
const pen = canvas && canvas.getContext("2d");
const view = {
  from: first, span: total, width: 0, height: 0, pointed: null, chosen: null, path: [], range: null, drawn: 0, waits: false
};
const margin = 10;
const arrowLimit = 400;

function x(time) { return margin + (time - view.from) / view.span * (view.width - 2 * margin); }
function timeAt(pixel) { return view.from + (pixel - margin) / (view.width - 2 * margin) * view.span; }

/// Reads the colours of the page, which differ in light and dark mode.
function colours() {
  const style = getComputedStyle(root);
  function of(name) { return style.getPropertyValue("--" + name).trim(); }
  return {
    ink: of("ink"), faint: of("faint"), line: of("line"), hop: of("hop"), depth: of("depth"), chosen: of("chosen"),
    paper: of("paper"), lanes: [0, 1, 2, 3, 4, 5].map(function (n) { return of("lane" + n); })
  };
}

function fit() {
  document.getElementById("room").style.height = height + "px";
  view.height = Math.min(height, Math.max(240, Math.round(window.innerHeight * 0.7)));
  box.style.height = view.height + 2 + "px";
  // After the height, which may add a scroll bar.
  view.width = box.clientWidth;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(view.width * scale);
  canvas.height = Math.round(view.height * scale);
  canvas.style.height = view.height + "px";
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  show();
}

function show() {
  if (view.waits) return;
  view.waits = true;
  requestAnimationFrame(function () { view.waits = false; draw(); });
}

function draw() {
  const ink = colours();
  view.drawn = 0;
  pen.clearRect(0, 0, view.width, view.height);
  pen.save();
  pen.beginPath();
  pen.rect(0, axis, view.width, view.height);
  pen.clip();
  pen.translate(0, -box.scrollTop);
  drawGrid(ink);
  drawRange(ink);
  for (const lane of lanes) {
    if (lane.isShown && lane.bottom >= box.scrollTop && lane.top - headline <= box.scrollTop + view.height) drawLane(lane, ink);
  }
  drawPath(ink);
  drawHops(ink);
  if (view.chosen) outline(view.chosen, ink, 2);
  if (view.pointed && view.pointed !== view.chosen) outline(view.pointed, ink, 1.5);
  pen.restore();
  drawAxis(ink);
  root.dataset.drawn = view.drawn;
  root.dataset.view = view.from + " " + view.span;
}

/// The distance of the ticks on the axis: 1, 2 or 5 times a power of ten.
function grid() {
  const rough = view.span / Math.max(2, view.width / 110);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map(function (n) { return n * power; }).find(function (n) { return n >= rough; });
}

function eachMark(body) {
  const step = grid();
  for (let n = Math.ceil(view.from / step); n * step <= view.from + view.span; n++) body(n * step);
}

function drawGrid(ink) {
  pen.fillStyle = ink.line;
  eachMark(function (time) { pen.fillRect(Math.round(x(time)), box.scrollTop, 1, view.height + axis); });
}

function drawAxis(ink) {
  pen.fillStyle = ink.line;
  pen.fillRect(0, axis - 1, view.width, 1);
  pen.fillStyle = ink.faint;
  pen.font = "11px system-ui, sans-serif";
  eachMark(function (time) {
    const words = inWords(time), width = pen.measureText(words).width;
    pen.fillText(words, Math.min(Math.max(4, x(time) - width / 2), view.width - width - 4), 16);
  });
}

function drawLane(lane, ink) {
  const colour = ink.lanes[lane.index % ink.lanes.length];
  pen.fillStyle = ink.line;
  pen.fillRect(0, lane.bottom - 1, view.width, 1);
  pen.font = "600 12px system-ui, sans-serif";
  pen.fillStyle = ink.ink;
  pen.fillText(lane.name, margin, lane.top - 6, view.width * 0.75);
  const end = margin + Math.min(pen.measureText(lane.name).width, view.width * 0.75);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = ink.faint;
  const kind = lane.isAsync ? "async" : lane.order.length + (lane.order.length === 1 ? " job" : " jobs");
  pen.fillText(kind + (spans.length > 1 ? ", time source " + (lane.clock + 1) : ""), end + 8, lane.top - 6);
  lane.rows.forEach(function (row) { drawRow(lane, row, colour, ink.paper); });
  drawNever(lane, ink);
  drawDepth(lane, ink);
}

function drawRow(lane, row, colour, paper) {
  const tall = lane.rowHeight - (lane.rowHeight > 6 ? 3 : 1);
  let painted = -1;
  const first = firstIndex(row, function (p) { return p.started >= view.from; });
  for (let n = Math.max(0, first - 1); n < row.length && row[n].started <= view.from + view.span; n++) {
    const job = row[n], left = Math.max(-2, x(job.started)), right = Math.min(view.width + 2, x(endOf(job)));
    // A job that ends in an already painted pixel column changes nothing.
    if (right < 0 || (right <= painted && n > first)) continue;
    const from = Math.max(left, painted), width = Math.max(1, right - from);
    pen.fillStyle = colour;
    pen.globalAlpha = !isShown(job) ? 0.12 : job.state === "running" ? 0.45 : lane.isAsync ? 0.6 : 1;
    pen.fillRect(from, rowTop(job), width > 4 ? width - 0.6 : width, tall);
    pen.globalAlpha = 1;
    painted = Math.max(left + 1, right);
    view.drawn++;
    if (width > 34 && tall > 10) {
      pen.fillStyle = paper;
      pen.font = "10px system-ui, sans-serif";
      const words = [job.title, "#" + job.number].find(function (w) { return w && pen.measureText(w).width < width - 8; });
      if (!lane.isAsync && words) pen.fillText(words, Math.max(from, 0) + 4, rowTop(job) + 10.5);
    }
  }
}

function drawNever(lane, ink) {
  let painted = -1;
  for (const job of lane.never) {
    const left = Math.max(-2, x(job.enqueued)), right = Math.min(view.width + 2, x(endOf(job)));
    if (right < 0 || left > view.width || right <= painted) continue;
    pen.strokeStyle = ink.faint;
    pen.strokeRect(left + 0.5, rowTop(job) + 0.5, Math.max(1, right - left - 1), lane.rowHeight - 4);
    painted = left + 1;
    view.drawn++;
  }
}

function drawDepth(lane, ink) {
  const times = lane.depth.times, counts = lane.depth.counts;
  if (lane.depth.most === 0) return;
  pen.fillStyle = ink.depth;
  let n = Math.max(0, firstIndex(times, function (t) { return t >= view.from; }) - 1);
  for (let column = -1; n < times.length && times[n] <= view.from + view.span;) {
    const left = Math.max(0, Math.floor(x(times[n])));
    // The maximum of a pixel column represents it.
    let most = counts[n], last = counts[n];
    while (n + 1 < times.length && Math.floor(x(times[n + 1])) <= left) { n++; most = Math.max(most, counts[n]); last = counts[n]; }
    const next = n + 1 < times.length ? Math.min(view.width, Math.floor(x(times[n + 1]))) : left + 1;
    bar(left, 1, most);
    if (next > left + 1) bar(left + 1, next - left - 1, last);
    n++;
  }
  function bar(left, width, count) {
    if (count <= 0) return;
    const tall = Math.max(2, count / lane.depth.most * (strip - 2));
    pen.fillRect(left, lane.stripTop + strip - tall, width, tall);
  }
}

function drawHops(ink) {
  const note = document.getElementById("note");
  note.textContent = "";
  const isOn = document.getElementById("hops").checked;
  const focus = view.pointed || view.chosen;
  let visible = hops.filter(function (h) {
    return h.from.lane.isShown && h.to.lane.isShown && (!filter || isShown(h.from) || isShown(h.to)) && h.arrived >= view.from && h.left <= view.from + view.span
      && Math.max(rowMiddle(h.from), rowMiddle(h.to)) >= box.scrollTop
      && Math.min(rowMiddle(h.from), rowMiddle(h.to)) <= box.scrollTop + view.height;
  });
  const own = visible.filter(function (h) { return h.from === focus || h.to === focus; });
  if (!isOn || visible.length > arrowLimit) {
    if (isOn) note.textContent = visible.length + " hops here: zoom in to see them, or select a job";
    visible = own;
  }
  // Many arrows, or those of jobs that are not selected, are drawn faintly.
  const usual = focus !== null ? 0.2 : Math.max(0.25, Math.min(0.65, 40 * view.width / 1200 / visible.length));
  for (const hop of visible) arrow(hop, ink, own.includes(hop), usual);
}

function arrow(hop, ink, isStrong, usual) {
  const x1 = x(hop.left), y1 = rowMiddle(hop.from), x2 = x(hop.arrived), y2 = rowMiddle(hop.to);
  const bend = Math.max(10, Math.min(60, Math.abs(x2 - x1) / 2));
  pen.globalAlpha = isStrong ? 1 : usual;
  pen.strokeStyle = pen.fillStyle = isStrong ? ink.chosen : ink.hop;
  pen.lineWidth = isStrong ? 1.6 : 1;
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 3, y2);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x2, y2);
  pen.lineTo(x2 - 6, y2 - 3.2);
  pen.lineTo(x2 - 6, y2 + 3.2);
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
}

/// Draws the selected range of time.
function drawRange(ink) {
  if (!view.range) return;
  const left = x(view.range.from), right = x(view.range.until);
  pen.globalAlpha = 0.13;
  pen.fillStyle = ink.chosen;
  pen.fillRect(left, box.scrollTop, Math.max(1, right - left), view.height + axis);
  pen.globalAlpha = 1;
}

/// Underlines the parts of the selected job's path, and joins them.
function drawPath(ink) {
  pen.fillStyle = pen.strokeStyle = ink.chosen;
  let last = null;
  for (const part of view.path) {
    if (!part.job.lane.isShown) continue;
    const y = rowTop(part.job) + part.job.lane.rowHeight - 4, left = x(part.from), right = x(part.until);
    if (part.how === "ran" || part.how === "was open" || part.how.endsWith("in front")) {
      pen.fillRect(left, y, Math.max(1, right - left), 3);
    }
    if (last !== null && last !== y) {
      pen.fillRect(left - 0.5, Math.min(last, y), 1, Math.abs(last - y) + 3);
    }
    last = y;
  }
}

/// Draws a frame around a job, and its wait.
function outline(job, ink, width) {
  const top = rowTop(job), tall = job.lane.rowHeight;
  pen.strokeStyle = ink.chosen;
  pen.lineWidth = width;
  const left = x(beginOf(job));
  pen.strokeRect(left - 1, top - 1.5, Math.max(2, x(endOf(job)) - left) + 2, tall);
  if (job.started > job.enqueued) {
    pen.setLineDash([4, 3]);
    pen.beginPath();
    pen.moveTo(x(job.enqueued), top + tall / 2);
    pen.lineTo(left, top + tall / 2);
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.lineWidth = 1;
}
