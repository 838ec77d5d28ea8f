extension TimelinePage {
    /// The first part of the script: what was recorded, by lanes and rows, and where it lies on the screen.
    static let model = #"""
        "use strict";
        const root = document.documentElement;
        const data = JSON.parse(document.getElementById("data").textContent);
        const states = ["waiting", "running", "finished", "abandoned"];

        const pieces = data.pieces.map(function (p, index) {
          return {
            index: index, lane: p[0], row: p[1], enqueued: p[2], started: p[3], ended: p[4], state: states[p[5]],
            number: p[6], submitter: p[7], behind: p[8], completer: p[9], thread: p[10], led: 0
          };
        });
        const lanes = data.lanes.map(function (l, index) {
          return { index: index, name: l[0], clock: l[1], isAsync: l[2] === 1, rows: [], never: [], count: l[3] };
        });
        const total = Math.max(1, ...data.spans);

        // What has not ended lasts until the last moment of its time.
        function endOf(piece) { return piece.ended >= 0 ? piece.ended : data.spans[lanes[piece.lane].clock]; }
        function beginOf(piece) { return piece.started >= 0 ? piece.started : piece.enqueued; }
        function nameOf(piece) {
          const lane = lanes[piece.lane];
          return lane.isAsync ? lane.name : lane.name + " #" + piece.number;
        }

        // Each row in the order of time, so that what is visible is found by halving.
        for (const lane of lanes) for (let row = 0; row < lane.count; row++) lane.rows.push([]);
        for (const piece of pieces) {
          const lane = lanes[piece.lane];
          (piece.started >= 0 ? lane.rows[piece.row] : lane.never).push(piece);
          if (piece.submitter >= 0) pieces[piece.submitter].led++;
        }
        for (const lane of lanes) {
          for (const row of lane.rows.concat([lane.never])) row.sort(function (a, b) { return beginOf(a) - beginOf(b); });
          lane.order = lane.rows.flat().concat(lane.never).sort(function (a, b) { return beginOf(a) - beginOf(b); });
          lane.depth = depthOf(lane);
        }

        /// How many wait, as steps: the moments and the numbers from each of them on.
        function depthOf(lane) {
          const steps = [];
          for (const piece of lane.order) {
            if (lane.isAsync) break;
            const until = piece.started >= 0 ? piece.started : endOf(piece);
            if (until > piece.enqueued) steps.push([piece.enqueued, 1], [until, -1]);
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

        // An arrow leads to a piece from the one that submitted it, and to an async also from the one that completed it.
        const hops = [];
        for (const piece of pieces) {
          const to = lanes[piece.lane];
          function hop(other, left, arrived) {
            if (other < 0 || arrived < 0) return;
            const from = pieces[other];
            if (from.started < 0 || lanes[from.lane].clock !== to.clock) return;
            hops.push({ from: from, to: piece, left: left, arrived: arrived });
          }
          hop(piece.submitter, piece.enqueued, piece.started);
          hop(piece.completer, piece.ended, piece.ended);
        }

        // Where the lanes lie: a line for the name, the rows, the strip of those that wait.
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
        function rowTop(piece) {
          const lane = lanes[piece.lane];
          return lane.top + (piece.started >= 0 ? piece.row : lane.count) * lane.rowHeight;
        }
        function rowMiddle(piece) { return rowTop(piece) + lanes[piece.lane].rowHeight / 2; }

        /// The first place of a sorted list that `isAfter` is true of.
        function firstPlace(list, isAfter) {
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

        root.dataset.pieces = pieces.length;
        root.dataset.lanes = lanes.length;
        root.dataset.hops = hops.length;
        """#
}
