/// The statistics of each lane, over the jobs within the filter and the selected range.
function totalsOf(chosen) {
  return lanes.filter(function (lane) { return lane.isShown; }).map(function (lane) {
    const list = lane.order.filter(function (job) {
      return isShown(job) && (!chosen || (endOf(job) >= chosen.from && job.enqueued <= chosen.until));
    });
    function count(state) { return list.filter(function (job) { return job.state === state; }).length; }
    const started = list.filter(function (job) { return job.started !== null; });
    return {
      lane: lane, count: list.length, waiting: count("waiting"), running: count("running"), abandoned: count("abandoned"),
      waits: spread(lane.isAsync ? [] : started, function (job) { return job.started - job.enqueued; }),
      runs: spread(started.filter(function (job) { return job.ended !== null; }), function (job) { return job.ended - job.started; }),
      depth: depthIn(lane, chosen), busy: chosen ? busyIn(started, chosen) : null
    };
  }).filter(function (line) { return line.count > 0; });
}

/// Nearest rank: each percentile is the length of a job, and links to that job.
function spread(list, length) {
  const sorted = list.map(function (job) { return { job: job, length: length(job) }; });
  sorted.sort(function (a, b) { return a.length - b.length; });
  return [50, 90, 99, 100].map(function (percent) {
    return sorted[Math.ceil(sorted.length * percent / 100) - 1] || null;
  });
}

function depthIn(lane, chosen) {
  if (!chosen) return lane.depth.most;
  const { times, counts } = lane.depth;
  let n = firstIndex(times, function (t) { return t > chosen.from; });
  let most = n > 0 ? counts[n - 1] : 0;
  for (; n < times.length && times[n] <= chosen.until; n++) most = Math.max(most, counts[n]);
  return most;
}

function busyIn(list, chosen) {
  let sum = 0;
  for (const job of list) sum += Math.max(0, Math.min(endOf(job), chosen.until) - Math.max(job.started, chosen.from));
  return sum / Math.max(1, chosen.until - chosen.from);
}

// The columns: a name, the value to sort by, the displayed value. A displayed job is a link.
function percentile(kind, n) { return function (line) { const p = line[kind][n]; return p ? p.length : -1; }; }
const columns = [
  { name: "Context", of: function (l) { return l.lane.name.toLowerCase(); } },
  { name: "Jobs", of: function (l) { return l.count; } },
  { name: "Waited p50", of: percentile("waits", 0), job: function (l) { return l.waits[0]; } },
  { name: "p90", of: percentile("waits", 1), job: function (l) { return l.waits[1]; } },
  { name: "p99", of: percentile("waits", 2), job: function (l) { return l.waits[2]; } },
  { name: "max", of: percentile("waits", 3), job: function (l) { return l.waits[3]; } },
  { name: "Ran p50", of: percentile("runs", 0), job: function (l) { return l.runs[0]; } },
  { name: "p90", of: percentile("runs", 1), job: function (l) { return l.runs[1]; } },
  { name: "p99", of: percentile("runs", 2), job: function (l) { return l.runs[2]; } },
  { name: "max", of: percentile("runs", 3), job: function (l) { return l.runs[3]; } },
  { name: "Busy", of: function (l) { return l.busy === null ? -1 : l.busy; } },
  { name: "Depth", of: function (l) { return l.depth; } },
  { name: "Waiting", of: function (l) { return l.waiting; } },
  { name: "Running", of: function (l) { return l.running; } },
  { name: "Abandoned", of: function (l) { return l.abandoned; } }
];
const sorting = { column: 0, isDown: false };

function showTotals() {
  const table = document.getElementById("totals"), lines = totalsOf(view.range);
  const key = columns[sorting.column].of, sign = sorting.isDown ? -1 : 1;
  lines.sort(function (a, b) { const x = key(a), y = key(b); return sign * (x < y ? -1 : x > y ? 1 : 0); });
  const head = document.createElement("tr"), body = document.createElement("tbody");
  columns.forEach(function (column, n) {
    const cell = document.createElement("th"), button = document.createElement("button");
    button.type = "button";
    button.textContent = column.name;
    button.onclick = function () {
      sorting.isDown = sorting.column === n ? !sorting.isDown : n > 0;
      sorting.column = n;
      showTotals();
      document.querySelectorAll("#totals thead button")[n].focus();
    };
    if (sorting.column === n) cell.setAttribute("aria-sort", sorting.isDown ? "descending" : "ascending");
    cell.append(button);
    head.append(cell);
  });
  for (const line of lines) body.append(rowOf(line));
  const top = document.createElement("thead");
  top.append(head);
  table.replaceChildren(top, body);
  document.getElementById("scope").textContent = view.range
    ? "of the selected " + inWords(view.range.until - view.range.from) : filter ? "of “" + filter + "”" : "";
}

function rowOf(line) {
  const row = document.createElement("tr");
  columns.forEach(function (column, n) {
    const cell = document.createElement(n === 0 ? "th" : "td");
    if (n === 0) {
      cell.scope = "row";
      cell.textContent = line.lane.name;
      if (line.lane.isAsync) cell.append(" ", small("async"));
    } else if (column.job) {
      const found = column.job(line);
      if (found) cell.append(linkTo(found.job, inWords(found.length)));
    } else if (column.name === "Busy") {
      cell.textContent = line.busy === null ? "" : Math.round(line.busy * 100) + " %";
    } else {
      const value = column.of(line);
      cell.textContent = value === 0 ? "" : value;
    }
    row.append(cell);
  });
  return row;
}

function small(words) {
  const element = document.createElement("small");
  element.textContent = words;
  return element;
}

/// A button that selects a job and brings it into view.
function linkTo(job, words) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = words;
  button.title = nameOf(job);
  button.onclick = function () { choose(job); };
  return button;
}
