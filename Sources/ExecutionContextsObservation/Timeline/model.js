"use strict";
const root = document.documentElement;
const isLive = "live" in root.dataset;

// The model: the lanes with their jobs, and the duration of each time source. The start or end of a
// job that has not started or ended is null, and so is a missing submitter.
let lanes = [], titles = [], jobs = [], hops = [], spans = [], first = 0, total = 1, height = 0, filter = "";

/// The jobs of the file, as objects that refer to each other: TimelineNumbers.swift lists
/// the indices.
function readFile(data) {
  const states = ["finished", "waiting", "running", "abandoned"];
  lanes = data.lanes.map(function (l, index) { return newLane(index, l[0], l[1], l[2] === 1, l[3]); });
  spans = data.spans;
  titles = data.titles;
  const enqueued = spans.map(function () { return 0; }), last = lanes.map(function () { return 0; });
  jobs = data.jobs.map(function (p, index) {
    const lane = lanes[p[0] || 0], at = enqueued[lane.clock] += p[2] || 0;
    const started = p[3] === -1 ? null : at + (p[3] || 0);
    return {
      index: index, lane: lane, row: p[1] || 0, enqueued: at, started: started,
      ended: p[4] === -1 ? null : (started === null ? at : started) + (p[4] || 0),
      state: states[p[11] || 0], number: last[lane.index] += p[5] || 0, thread: p[6] || 0, submitted: 0,
      title: titleAt(p[7])
    };
  });
  data.jobs.forEach(function (p, index) {
    const job = jobs[index];
    function other(back) { return back ? jobs[index - back] : null; }
    job.submitter = other(p[8]);
    job.behind = other(p[9]);
    job.completer = other(p[10]);
    if (job.submitter) job.submitter.submitted++;
  });
}
function newLane(index, name, clock, isAsync, count) {
  return { index: index, name: name, clock: clock, isAsync: isAsync, count: count };
}

// A job that has not ended lasts until the last moment of its time source.
function endOf(job) { return job.ended !== null ? job.ended : spans[job.lane.clock]; }
function beginOf(job) { return job.started !== null ? job.started : job.enqueued; }
function startOf(job) { return job.started !== null ? job.started : endOf(job); }
function nameOf(job) {
  if (job.lane.isAsync) return job.lane.name;
  return job.lane.name + " #" + job.number + (job.title ? ": " + job.title : "");
}

/// The title with a number: the label of a job, or where it was written.
function titleAt(number) { return number ? titles[number - 1] : ""; }
function isShown(job) { return job.lane.isShown && (job.lane.isFound || nameOf(job).toLowerCase().includes(filter)); }

/// Arranges the jobs: rows sorted by time, so that a binary search finds what is visible.
function build() {
  function byBegin(a, b) { return beginOf(a) - beginOf(b); }
  total = Math.max(1, ...spans.map(function (end) { return end - first; }));
  for (const lane of lanes) {
    lane.rows = [];
    for (let row = 0; row < lane.count; row++) lane.rows.push([]);
    lane.never = [];
    lane.order = [];
  }
  for (const job of jobs) {
    (job.started !== null ? job.lane.rows[job.row] : job.lane.never).push(job);
    job.lane.order.push(job);
  }
  for (const lane of lanes) {
    for (const list of lane.rows.concat([lane.never, lane.order])) list.sort(byBegin);
    lane.ended = lane.order.filter(function (job) { return job.ended !== null && job.started !== null; });
    lane.ended.sort(function (a, b) { return a.ended - b.ended; });
    lane.depth = depthOf(lane);
  }
  findHops();
  arrange();
  root.dataset.jobs = jobs.length;
  root.dataset.lanes = lanes.length;
  root.dataset.hops = hops.length;
}

/// The number of waiting jobs as a step function: moments, and the number from each of them
/// on.
function depthOf(lane) {
  const steps = [];
  for (const job of lane.order) {
    if (lane.isAsync) break;
    const until = startOf(job);
    if (until > job.enqueued) steps.push([job.enqueued, 1], [until, -1]);
  }
  steps.sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; });
  const times = [], counts = [];
  let count = 0, most = 0;
  for (const step of steps) {
    count += step[1];
    most = Math.max(most, count);
    times.push(step[0]);
    counts.push(count);
  }
  return { times: times, counts: counts, most: most };
}

// An arrow leads to a job from its submitter, and to an async also from the job that
// completed it.
function findHops() {
  hops = [];
  function hop(from, job, left, arrived) {
    if (!from || from.started === null || arrived === null || from.lane.clock !== job.lane.clock) return;
    hops.push({ from: from, to: job, left: left, arrived: arrived });
  }
  for (const job of jobs) {
    hop(job.submitter, job, job.enqueued, job.started);
    hop(job.completer, job, job.ended, job.ended);
  }
}

// The layout of the lanes: the name, the rows, the strip of the waiting jobs.
const axis = 24, headline = 20, strip = 14, gap = 8;

/// Places the lanes that match the filter, or contain a job that does.
function arrange() {
  height = axis;
  for (const lane of lanes) {
    lane.isFound = lane.name.toLowerCase().includes(filter);
    lane.isShown = lane.isFound || lane.order.some(function (job) { return nameOf(job).toLowerCase().includes(filter); });
    const rows = lane.count + (lane.never.length > 0 ? 1 : 0);
    lane.rowHeight = rows <= 10 ? 17 : Math.max(4, Math.floor(170 / rows));
    lane.top = height + headline;
    lane.stripTop = lane.top + rows * lane.rowHeight + 1;
    lane.bottom = lane.stripTop + (lane.depth.most > 0 ? strip : 0) + gap;
    if (lane.isShown) height = lane.bottom;
  }
}
function rowTop(job) {
  return job.lane.top + (job.started !== null ? job.row : job.lane.count) * job.lane.rowHeight;
}
function rowMiddle(job) { return rowTop(job) + job.lane.rowHeight / 2; }

/// The first index of a sorted list at which `isAfter` is true.
function firstIndex(list, isAfter) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(list[middle])) high = middle; else low = middle + 1;
  }
  return low;
}

function inWords(nanoseconds) {
  const size = Math.abs(nanoseconds);
  const unit = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return Number((nanoseconds / unit[0]).toPrecision(4)) + " " + unit[1];
}

readFile(JSON.parse(document.getElementById("data").textContent));
build();
