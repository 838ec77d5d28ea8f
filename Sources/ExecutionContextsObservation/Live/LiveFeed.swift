internal import ExecutionContexts

/// The state of one client: what was sent to it, and the next message.
///
/// A message is JSON; `live.js` reads it. Instants are nanoseconds since the first event of their
/// time source that the client received.
struct LiveFeed {
    private var cursor = RecorderCursor()
    /// The client's lanes, by the recorder's numbers, and their indices in the client.
    private var lanes: [UInt32: (lane: RecorderLane, place: Int)] = [:]
    private var clocks: [ObjectIdentifier] = []
    private var origins: [Int64?] = []
    private var titles = JobTitles()

    // Beyond these limits the feed makes its client drop everything: it must not grow with the
    // program.
    private static let (mostClocks, mostTitles) = (1_000, 1_000)

    /// The next message, and whether the recorder currently has no more events.
    mutating func next(
        from recorder: Recorder, _ figures: [String: Int], _ now: ContextInstant
    ) -> (message: [UInt8], isLast: Bool) {
        let batch = recorder.next(&cursor)
        var parts: [String] = []
        if batch.isFirst || clocks.count > Self.mostClocks {
            self = LiveFeed(cursor: cursor)
            parts.append("\"first\":true")
        }
        if titles.texts.count > Self.mostTitles {
            titles = JobTitles()
            parts.append("\"retitled\":true")
        }
        if batch.missed > 0 { parts.append("\"missed\":\(batch.missed)") }
        if recorder.isPaused { parts.append("\"paused\":true") }
        let names = batch.entries.compactMap { name($0.lane, batch.lanes[Int($0.lane)]) }
        if !names.isEmpty { parts.append("\"lanes\":[\(names.joined(separator: ","))]") }
        let known = titles.texts.count
        let events = batch.entries.map { numbers($0, batch.labels) }
        let fresh = titles.texts[known...]
        if !fresh.isEmpty { parts.append("\"titles\":[\(JobTitles.json(fresh))]") }
        if !events.isEmpty { parts.append("\"events\":[\(events.joined(separator: ","))]") }
        let figures = figures.sorted { $0.key < $1.key }.map {
            "\(JSONText.quoted($0.key)):\($0.value)"
        }
        parts.append("\"figures\":{\(figures.joined(separator: ","))}")
        parts.append("\"now\":[\(moments(now).joined(separator: ","))]")
        return (Array("data: {\(parts.joined(separator: ","))}\n\n".utf8), batch.isLast)
    }

    private init(cursor: RecorderCursor) { self.cursor = cursor }

    init() {}

    /// The description of a lane that the client does not know yet: the recorder may have reused
    /// the number of an earlier lane.
    private mutating func name(_ number: UInt32, _ lane: RecorderLane) -> String? {
        let known = lanes[number]
        if known?.lane == lane { return nil }
        let clock = clocks.firstIndex(of: lane.timeSource) ?? clocks.count
        if clock == clocks.count {
            clocks.append(lane.timeSource)
            origins.append(nil)
        }
        let place = known?.place ?? lanes.count
        lanes[number] = (lane, place)
        return "[\(JSONText.quoted(lane.name)),\(clock),\(lane.isAsync ? 1 : 0),\(place)]"
    }

    /// The current instant of each time source, which is known for the system's time only.
    private func moments(_ now: ContextInstant) -> [String] {
        zip(clocks, origins).map { clock, origin in
            guard let origin, clock == SystemTime.shared.identity else { return "null" }
            return "\(now.nanoseconds - origin)"
        }
    }

    private mutating func numbers(_ entry: RecorderEntry, _ labels: [String]) -> String {
        let (lane, place) = lanes[entry.lane]!
        let clock = clocks.firstIndex(of: lane.timeSource) ?? 0
        let origin = origins[clock] ?? entry.enqueued
        origins[clock] = origin
        let (submitter, completer) = (entry.submitter, entry.completer)
        let title = titles.number(of: entry.source.source(in: labels))
        return "[\(entry.kind.rawValue),\(place),\(entry.job.view),\(entry.job.job),"
            + "\(entry.enqueued &- origin),\(entry.started &- origin),\(entry.ended &- origin),"
            + "\(entry.thread),\(submitter?.view ?? 0),\(submitter?.job ?? 0),"
            + "\(completer?.view ?? 0),\(completer?.job ?? 0),\(title)]"
    }

    /// The figures of the shared pool, once it has been used.
    static var poolFigures: [String: Int] {
        let pool = PoolContext().statistics
        guard pool.begun > 0 else { return [:] }
        return [
            "pool: workers": pool.workers, "pool: running": pool.active - pool.waiting,
            "pool: blocked": pool.waiting, "pool: pending": pool.pending,
        ]
    }
}
