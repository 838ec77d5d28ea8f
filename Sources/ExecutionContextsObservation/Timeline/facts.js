const tip = document.getElementById("tip");

function listOf(pairs) {
  const list = document.createElement("dl");
  for (const [term, ...words] of pairs) {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = term;
    dd.append(...words);
    list.append(dt, dd);
  }
  return list;
}

function heading(words, level) {
  const element = document.createElement(level || "strong");
  element.textContent = words;
  return element;
}

function showFacts(element, job) {
  element.replaceChildren();
  if (!job) return;
  const isTip = element === tip, lane = job.lane, facts = [];
  function other(job) { return isTip ? nameOf(job) : linkTo(job, nameOf(job)); }
  facts.push(["State", job.state]);
  facts.push([lane.isAsync ? "Made" : "Submitted", "at " + inWords(job.enqueued)]);
  if (job.submitter) facts[1].push(" by ", other(job.submitter));
  if (!lane.isAsync) {
    facts.push(["Waited", inWords(startOf(job) - job.enqueued)]);
    if (job.behind) facts[2].push(", behind ", other(job.behind));
  }
  if (job.started !== null) {
    const lasted = inWords(endOf(job) - job.started);
    facts.push([lane.isAsync ? "Took" : "Ran", lasted + (job.ended === null ? " so far" : "") + ", thread " + job.thread]);
  }
  if (job.completer) facts.push(["Completed", "by ", other(job.completer)]);
  if (job.submitted > 0) facts.push(["Submitted", job.submitted + (job.submitted === 1 ? " job" : " jobs")]);
  element.append(heading(nameOf(job)), listOf(facts));
  if (!isTip) showPath(element, job);
}

/// Lists where the time went, from the first known cause to the end of the job, with the shares.
function showPath(element, job) {
  view.path = pathOf(job);
  if (view.path.length === 0) return;
  const whole = view.path.reduce(function (sum, part) { return sum + part.until - part.from; }, 0);
  const list = document.createElement("ol");
  for (const share of sharesOf(view.path).slice(0, 12)) {
    const item = document.createElement("li");
    const meter = document.createElement("i");
    meter.style.width = Math.max(1, Math.round(100 * share.lasted / whole)) + "%";
    item.append(linkTo(share.job, nameOf(share.job)), " " + share.how + " for " + inWords(share.lasted) + ", "
      + percent(share.lasted / whole), meter);
    list.append(item);
  }
  element.append(heading("Where the time went", "h3"), list);
}

function percent(share) { return share < 0.01 ? "under 1 %" : Math.round(share * 100) + " %"; }

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
  view.path = [];
  children = null;
  showFacts(document.getElementById("facts"), job);
  document.getElementById("hint").hidden = job !== null;
  if (job) {
    if (!isShown(job)) setFilter("");
    const from = beginOf(job), until = endOf(job);
    if (from < view.from || from > view.from + view.span) look((from + until) / 2 - view.span / 2, view.span);
    const top = rowTop(job);
    if (top < box.scrollTop + axis) box.scrollTop = top - axis - headline;
    if (top > box.scrollTop + view.height - 20) box.scrollTop = top - view.height + 40;
    // Beyond the drawn window of a live program, the picture must be paused to be read.
    if (isLive) setPaused(true);
  }
  remember();
  show();
}
