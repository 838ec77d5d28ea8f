/// Why a job began and ended when it did: the chain of causes, from the first known one to its end.
/// Walked backwards: its run, the jobs in front of it, its submitter up to the submission, and so
/// on. Each part has the delaying job, when, and how.
function pathOf(job) {
  const parts = [], limit = 200;
  function add(of, from, until, how) {
    if (until > from && parts.length < limit) parts.push({ job: of, from: from, until: until, how: how });
  }
  let until = endOf(job);
  for (let now = job, left = 40; now && left > 0; left--) {
    if (now.started !== null) {
      // Locks and other jobs that it called and waited for lie inside its run.
      for (const inner of waitsInside(now, until)) {
        add(now, startOf(inner), until, "ran");
        waitOf(inner, add);
        until = inner.enqueued;
      }
      add(now, now.started, until, now.lane.isAsync ? "was open" : "ran");
    }
    waitOf(now, add);
    until = now.enqueued;
    const above = now.submitter;
    now = above && above.lane.clock === now.lane.clock && above.started !== null && above.started <= until ? above : null;
  }
  return parts.reverse();
}

/// The jobs that `job` called on its own thread and waited for, the latest first.
function waitsInside(job, until) {
  const inner = [];
  for (const other of childrenOf(job)) {
    if (other.thread === job.thread && other.started !== null && other.started > other.enqueued
      && other.started <= until && endOf(other) <= endOf(job) && !other.lane.isAsync) inner.push(other);
  }
  inner.sort(function (a, b) { return b.enqueued - a.enqueued; });
  // Of overlapping ones, the last one counts.
  let before = Infinity;
  return inner.filter(function (other) {
    if (other.started > before) return false;
    before = other.enqueued;
    return true;
  });
}

let children = null;
function childrenOf(job) {
  if (!children) {
    children = new Map();
    for (const other of jobs) {
      if (!other.submitter) continue;
      const known = children.get(other.submitter);
      if (known) known.push(other); else children.set(other.submitter, [other]);
    }
  }
  return children.get(job) || [];
}

// The context had no thread then, or was occupied by something unobserved.
const alone = "waited with no observed job in front";

/// Divides the wait of a job among the jobs of its lane that ended in it, the latest first, and the
/// gaps between them.
function waitOf(job, add) {
  if (job.lane.isAsync) return;
  let until = startOf(job);
  const ended = job.lane.ended;
  let n = firstIndex(ended, function (other) { return other.ended > until; }) - 1;
  for (let left = 60; n >= 0 && left > 0 && until > job.enqueued; n--) {
    const other = ended[n];
    if (other.ended <= job.enqueued) break;
    if (other === job || other.started >= until) continue;
    add(job, Math.min(other.ended, until), until, alone);
    add(other, Math.max(other.started, job.enqueued), Math.min(other.ended, until), "was in front");
    until = Math.max(other.started, job.enqueued);
    left--;
  }
  const holder = job.started === null ? job.lane.order.find(function (other) { return other.state === "running"; }) : null;
  if (holder) add(holder, Math.max(holder.started, job.enqueued), until, "is in front");
  else add(job, job.enqueued, until, alone);
}

/// The parts of a path, merged by job and kind, the longest first.
function sharesOf(parts) {
  const shares = [];
  for (const part of parts) {
    let share = shares.find(function (s) { return s.job === part.job && s.how === part.how; });
    if (!share) { share = { job: part.job, how: part.how, lasted: 0 }; shares.push(share); }
    share.lasted += part.until - part.from;
  }
  return shares.sort(function (a, b) { return b.lasted - a.lasted; });
}
