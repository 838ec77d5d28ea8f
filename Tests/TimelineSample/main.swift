import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import Foundation

// Prints the page of a sample recording: `app`, `many`, `empty` or `names`. With the arguments
// `traces FOLDER`, it writes the trace in both formats instead; a number is that of the jobs of
// `many`. `live` serves a page.

/// Keeps a thread busy for about `microseconds`, as a job would.
func compute(_ microseconds: Int) {
    let end = DispatchTime.now().uptimeNanoseconds + UInt64(microseconds) * 1000
    while DispatchTime.now().uptimeNanoseconds < end {}
}

/// A small app: requests come in, look things up, write to a database and redraw.
func app() -> Recorder {
    let recorder = Recorder()
    let requests = GlobalContext().limited(to: 3).named("requests").observed(by: recorder)
    let database = GlobalContext().serial(named: "database").observed(by: recorder)
    let screen = GlobalContext().serial(named: "screen").observed(by: recorder)
    let cache = ReadWriteCoordinator(name: "cache").observed(by: recorder)
    let index = CriticalSection(name: "index").observed(by: recorder)
    let group = DispatchGroup()
    for number in 0..<24 {
        group.enter()
        requests.execute {
            cache.read { compute(60) }
            compute(300 + number * 20)
            let stored = Promise<Int>()
            stored.async.recorded(by: recorder, as: "stored").onSuccess(on: screen) { _ in
                compute(150)
                group.leave()
            }
            database.execute {
                index.sync { compute(120) }
                compute(number == 11 ? 2500 : 250)
                cache.enqueueWrite { compute(40) }
                stored.succeed(number)
            }
        }
        compute(number % 6 == 5 ? 2500 : 120)
    }
    group.wait()
    let token = InvalidationToken()
    token.invalidate()
    // The recording ends meanwhile, so that the page shows a running job and two that wait.
    let open = DispatchSemaphore(value: 0)
    let started = DispatchSemaphore(value: 0)
    database.execute {
        started.signal()
        open.wait()
    }
    started.wait()
    database.execute {}
    database.execute {}
    compute(1500)
    screen.execute { started.signal() }
    started.wait()
    recorder.pause()
    open.signal()
    return recorder
}

/// More jobs than a screen has room for.
func many(_ count: Int) -> Recorder {
    let recorder = Recorder(capacity: 3 * count)
    let contexts = (0..<10).map {
        GlobalContext().serial(named: "lane \($0)").observed(by: recorder)
    }
    let group = DispatchGroup()
    for number in 0..<count / 2 {
        group.enter()
        contexts[number % 10].execute { contexts[(number + 1) % 10].execute { group.leave() } }
    }
    group.wait()
    return recorder
}

/// Names that would break a page that did not escape them.
func names() -> Recorder {
    let recorder = Recorder()
    for name in [
        "</script><script>window.broken = 1</script>", "<b>&\"'", "日本 🐦 \u{2028}", "-->", "\\",
    ] {
        let context = ImmediateContext().named(name).observed(by: recorder)
        context.execute { compute(20) }
    }
    return recorder
}

/// Serves a program that never rests, in which a job stalls, until the standard input ends.
func serve() throws {
    let recorder = Recorder()
    let requests = GlobalContext().limited(to: 2).named("requests").observed(by: recorder)
    let database = GlobalContext().serial(named: "database").observed(by: recorder)
    let screen = PoolContext().serial(named: "screen").observed(by: recorder)
    let ticks = GlobalContext().schedule(every: .milliseconds(5)) {
        requests.execute {
            compute(200)
            screen.execute { compute(100) }
        }
    }
    let open = DispatchSemaphore(value: 0)
    database.execute { open.wait() }
    database.execute {}
    let live = try recorder.serve(title: "A sample, live") { ["images waiting": 3] }
    // At once, although it is a pipe that reads it.
    FileHandle.standardOutput.write(Data((live.address + "\n").utf8))
    while readLine() != nil {}
    ticks.cancel()
    live.stop()
    open.signal()
}

let recorder: Recorder
switch CommandLine.arguments.dropFirst().first {
case "many": recorder = many(CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) ?? 50_000)
case "live":
    try serve()
    exit(0)
case "empty": recorder = Recorder()
case "names": recorder = names()
default: recorder = app()
}
let rest = Array(CommandLine.arguments.dropFirst(2))
if rest.count == 2, rest[0] == "traces" {
    // The last job may be ending: both files are to have the same events.
    recorder.pause()
    try recorder.writeTrace(to: rest[1] + "/trace.json")
    try recorder.writeTrace(to: rest[1] + "/trace.pftrace", as: .perfetto)
} else {
    print(recorder.timelineHTML(title: "A sample <of> work"))
}
