import ExecutionContexts
import ExecutionContextsObservation
import Pages

let timeline = Chapter(
    name: "timeline", title: "What the contexts did: totals, and a timeline for the browser"
) {
    let recorder = Recorder()
    let requests = GlobalContext().limited(to: 3).named("requests").observed(by: recorder)
    let database = GlobalContext().serial(named: "database").observed(by: recorder)
    let cache = ReadWriteCoordinator(name: "cache").observed(by: recorder)
    let screen = GlobalContext().serial(named: "screen").observed(by: recorder)
    let shown = await withTaskGroup { group in
        for number in 0..<40 {
            let answer = Promise<Void>()
            requests.execute {
                compute(for: .microseconds(300 + 40 * (number % 7)))
                if number % 3 != 0, cache.read({ true }) {
                    return screen.execute { answer.succeed(()) }
                }
                database.execute {
                    compute(for: .microseconds(number == 20 ? 8_000 : 400))
                    cache.enqueueWrite { compute(for: .microseconds(50)) }
                    screen.execute { answer.succeed(()) }
                }
            }
            group.addTask { (try? await answer.async.get()) != nil }
        }
        return await group.reduce(into: 0) { count, wasShown in count += wasShown ? 1 : 0 }
    }
    say("requests answered", shown)
    print(style.dim("       context             jobs   waited p50    p99    ran p50    longest"))
    for total in recorder.totals {
        print(
            "       " + total.context.padding(18) + "\(total.count)".leading(6)
                + [total.waits.p50, total.waits.p99, total.runs.p50, total.longestHold]
                .map { "\($0.formattedMilliseconds)".leading(11) }.joined())
    }
    try write(recorder, "timeline", title: "The Tour's last chapter")
}

/// The timelines that the tour has written. It prints their paths at its end.
let written = Log()

/// Writes the timeline of a chapter.
func write(_ recorder: Recorder, _ name: String, title: String) throws {
    let path = try pagePath("\(name).html", of: "tour")
    try recorder.writeTimeline(to: path, title: title)
    written.add("\(title): " + style.bold(path))
}

/// Keeps the thread busy, so that the timeline shows jobs of some length.
func compute(for duration: Duration) {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end {}
}

extension String {
    fileprivate func leading(_ width: Int) -> String {
        String(repeating: " ", count: max(1, width - count)) + self
    }
}
