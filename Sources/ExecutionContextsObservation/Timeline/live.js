// The page of a running program: events arrive, and the picture follows the last seconds.
const live = { known: new Map(), all: [], lanes: [], clocks: [], isPaused: false, isPressed: false, missed: 0, timer: null, source: null };
const jobLimit = 10000;

function setPaused(isPaused) {
  live.isPaused = isPaused;
  const button = document.getElementById("pause");
  button.setAttribute("aria-pressed", isPaused);
  button.textContent = isPaused ? "Resume" : "Pause";
  if (!isPaused) follow();
}

function receive(message) {
  if (message.first) forget();
  if (message.retitled) titles = [];
  titles = titles.concat(message.titles || []);
  for (const l of message.lanes || []) {
    const lane = Object.assign(newLane(lanes.length, l[0], l[1], l[2] === 1, 1), {
      places: [], inside: [], latest: null, rows: [[]], never: [], order: [], ended: [], depth: { times: [], counts: [], most: 0 }
    });
    // The earlier lane with this index stays in the picture as long as it has a job.
    live.lanes[l[3]] = lane;
    lanes.push(lane);
    if (live.clocks[l[1]] === undefined) live.clocks[l[1]] = 0;
  }
  live.missed += message.missed || 0;
  for (const event of message.events || []) happen(event);
  message.now.forEach(function (now, clock) { if (now !== null) live.clocks[clock] = Math.max(live.clocks[clock], now); });
  live.message = message;
  if (live.timer === null) live.timer = setTimeout(function () { live.timer = null; follow(); }, 100);
}

/// The recorder was cleared, or this is another connection.
function forget() {
  live.known.clear();
  live.all = [];
  live.clocks = [];
  live.missed = 0;
  titles = [];
  lanes = [];
  live.lanes = [];
  jobs = [];
  hops = [];
  choose(null);
  setPaused(false);
}

// Follows Recording.swift, but assigns a job's row when it starts, so that no row moves.
function happen(e) {
  const key = e[2] + " " + e[3], kind = e[0];
  let job = live.known.get(key);
  const lane = job ? job.lane : live.lanes[e[1]];
  if (!job) {
    job = {
      key: key, lane: lane, row: 0, enqueued: e[4], started: null, ended: null, state: "waiting", number: e[3], thread: e[7],
      submitter: live.known.get(e[8] + " " + e[9]) || null, behind: null, completer: null, submitted: 0,
      title: titleAt(e[12])
    };
    if (job.submitter) job.submitter.submitted++;
    live.known.set(key, job);
    live.all.push(job);
    if (kind === 0) {
      job.behind = lane.inside[0] || (lane.latest && lane.latest.state === "waiting" ? lane.latest : null);
      lane.latest = job;
    }
  }
  live.clocks[lane.clock] = Math.max(live.clocks[lane.clock], kind === 0 ? e[4] : kind === 2 ? e[6] : e[5]);
  if (kind === 0 || job.state === "finished" || job.state === "abandoned") return;
  job.thread = e[7];
  if (kind === 3) {
    job.state = "abandoned";
    job.ended = e[5];
    job.behind = null;
  } else {
    if (job.started === null) begin(job, e[5]);
    if (kind === 2) end(job, e[6], live.known.get(e[10] + " " + e[11]) || null);
  }
}
function begin(job, started) {
  const lane = job.lane;
  if (job.behind && job.behind.state !== "finished") job.behind = null;
  job.started = started;
  job.state = "running";
  const free = lane.places.indexOf(null);
  job.row = Math.min(free >= 0 ? free : lane.places.length, 199);
  lane.places[job.row] = job;
  if (!lane.isAsync) lane.inside.push(job);
}
function end(job, ended, completer) {
  const lane = job.lane;
  job.state = "finished";
  job.ended = ended;
  job.completer = completer;
  if (lane.places[job.row] === job) lane.places[job.row] = null;
  lane.inside = lane.inside.filter(function (other) { return other !== job; });
}

/// Drops the jobs that ended before the window, and what they refer to. Beyond the limit it
/// drops the oldest, ended or not. A lane whose index was reused is dropped with its last job.
function prune(from) {
  const excess = Math.max(0, live.all.length - jobLimit);
  live.all = live.all.filter(function (job, n) {
    if (n >= excess && (job.ended === null || job.ended >= from[job.lane.clock])) return true;
    live.known.delete(job.key);
    job.submitter = job.behind = job.completer = null;
    if (job.lane.latest === job) job.lane.latest = null;
    if (job.ended === null) end(job, null, null);
    return false;
  });
  const kept = new Set(live.lanes.concat(live.all.map(laneOf), jobs.map(laneOf)));
  lanes = lanes.filter(function (lane) { return kept.has(lane); });
}
function laneOf(job) { return job.lane; }

function follow() {
  const seconds = Number(document.getElementById("window").value) * 1e9;
  // While the picture is paused, ten times as much is kept, but never more than the limit.
  prune(live.clocks.map(function (now) { return now - seconds * (live.isPaused ? 10 : 1); }));
  // A pressed element must not be replaced before the button is up.
  if (live.isPressed) return;
  if (!isInUse("stalls")) showStalls();
  showFigures();
  if (live.isPaused) return;
  jobs = live.all.slice();
  spans = live.clocks.slice();
  first = Math.max(0, Math.max(0, ...spans) - seconds);
  for (const lane of lanes) lane.count = Math.max(1, lane.places.length, ...lane.order.map(function (j) { return j.row + 1; }));
  build();
  view.from = first;
  view.span = total;
  view.pointed = null;
  tip.hidden = true;
  children = null;
  view.path = [];
  if (!isInUse("facts")) showFacts(document.getElementById("facts"), view.chosen);
  if (!isInUse("totals")) showTotals();
  fit();
}

/// Whether the keyboard is in a part of the page, which then stays as it is.
function isInUse(id) { return document.getElementById(id).querySelector(":focus-visible") !== null; }

function showStalls() {
  const limit = Number(document.getElementById("limit").value) * 1e6;
  const stalled = live.all.filter(function (job) {
    return job.ended === null && !job.lane.isAsync && live.clocks[job.lane.clock] - beginOf(job) >= limit;
  });
  // Running jobs first: the others may wait for them.
  stalled.sort(function (a, b) { return (a.started === null) - (b.started === null) || beginOf(a) - beginOf(b); });
  const list = document.getElementById("stalls");
  list.replaceChildren(...stalled.slice(0, 8).map(function (job) {
    const item = document.createElement("li");
    const lasted = inWords(live.clocks[job.lane.clock] - beginOf(job));
    item.append(linkTo(job, nameOf(job)), (job.started === null ? " has waited for " : " has run for ") + lasted);
    return item;
  }));
  if (stalled.length > 8) list.append(Object.assign(document.createElement("li"), { textContent: "and " + (stalled.length - 8) + " more" }));
  root.dataset.stalls = stalled.length;
}

function showFigures() {
  const figures = Object.entries(live.message ? live.message.figures : {});
  document.getElementById("figures").replaceChildren(...figures.map(function (entry) {
    const item = document.createElement("li"), number = document.createElement("b");
    number.textContent = entry[1];
    item.append(entry[0] + " ", number);
    return item;
  }));
  const words = [live.all.length + " jobs in the window"];
  if (live.missed > 0) words.push(live.missed + " events were overwritten before they arrived here");
  if (live.message && live.message.paused) words.push("the recorder is paused");
  document.getElementById("status").textContent = words.join("; ");
}

function connect() {
  document.getElementById("live").hidden = false;
  document.getElementById("pause").onclick = function () { setPaused(!live.isPaused); };
  document.getElementById("window").onchange = document.getElementById("limit").onchange = follow;
  window.addEventListener("pointerdown", function () { live.isPressed = true; }, true);
  for (const up of ["pointerup", "pointercancel"]) {
    // After the click that follows.
    window.addEventListener(up, function () { setTimeout(function () { live.isPressed = false; follow(); }); }, true);
  }
  live.source = new EventSource("events");
  live.source.onmessage = function (event) { receive(JSON.parse(event.data)); };
  live.source.onopen = function () { root.dataset.connected = "yes"; };
  live.source.onerror = function () {
    root.dataset.connected = "no";
    document.getElementById("status").textContent = "The program has ended, or no longer serves this page.";
  };
}
if (isLive) connect();
