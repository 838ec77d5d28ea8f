"use strict";
const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);
const states = ["waiting", "running", "finished", "abandoned"];

const jobs = data.jobs.map(function (p, index) {
  return {
    index: index, lane: p[0], row: p[1], enqueued: p[2], started: p[3], ended: p[4], state: states[p[5]],
    number: p[6], submitter: p[7], behind: p[8], completer: p[9], thread: p[10], submittedCount: 0
  };
});
const lanes = data.lanes.map(function (l, index) {
  return { index: index, name: l[0], clock: l[1], isAsync: l[2] === 1, rows: [], never: [], count: l[3] };
});
const total = Math.max(1, ...data.spans);

// A job that has not ended lasts until the last moment of its time source.
function endOf(job) { return job.ended >= 0 ? job.ended : data.spans[lanes[job.lane].clock]; }
function beginOf(job) { return job.started >= 0 ? job.started : job.enqueued; }
function nameOf(job) {
  const lane = lanes[job.lane];
  return lane.isAsync ? lane.name : lane.name + " #" + job.number;
}

// Each row is sorted by time, so that a binary search finds what is visible.
for (const lane of lanes) for (let row = 0; row < lane.count; row++) lane.rows.push([]);
for (const job of jobs) {
  const lane = lanes[job.lane];
  (job.started >= 0 ? lane.rows[job.row] : lane.never).push(job);
  if (job.submitter >= 0) jobs[job.submitter].submittedCount++;
}
for (const lane of lanes) {
  for (const row of lane.rows.concat([lane.never])) row.sort(function (a, b) { return beginOf(a) - beginOf(b); });
  lane.order = lane.rows.flat().concat(lane.never).sort(function (a, b) { return beginOf(a) - beginOf(b); });
  lane.depth = depthOf(lane);
}

/// The number of waiting jobs as a step function: moments, and the number from each of them
/// on.
function depthOf(lane) {
  const steps = [];
  for (const job of lane.order) {
    if (lane.isAsync) break;
    const until = job.started >= 0 ? job.started : endOf(job);
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
const hops = [];
for (const job of jobs) {
  const to = lanes[job.lane];
  function hop(other, left, arrived) {
    if (other < 0 || arrived < 0) return;
    const from = jobs[other];
    if (from.started < 0 || lanes[from.lane].clock !== to.clock) return;
    hops.push({ from: from, to: job, left: left, arrived: arrived });
  }
  hop(job.submitter, job.enqueued, job.started);
  hop(job.completer, job.ended, job.ended);
}

// The layout of the lanes: the name, the rows, the strip of the waiting jobs.
const axis = 24, headline = 20, strip = 14, gap = 8;
let height = axis;
for (const lane of lanes) {
  const rows = lane.count + (lane.never.length > 0 ? 1 : 0);
  lane.rowHeight = rows <= 10 ? 17 : Math.max(4, Math.floor(170 / rows));
  lane.top = height + headline;
  lane.stripTop = lane.top + rows * lane.rowHeight + 1;
  lane.bottom = lane.stripTop + (lane.depth.most > 0 ? strip : 0) + gap;
  height = lane.bottom;
}
function rowTop(job) {
  const lane = lanes[job.lane];
  return lane.top + (job.started >= 0 ? job.row : lane.count) * lane.rowHeight;
}
function rowMiddle(job) { return rowTop(job) + lanes[job.lane].rowHeight / 2; }

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

root.dataset.jobs = jobs.length;
root.dataset.lanes = lanes.length;
root.dataset.hops = hops.length;
