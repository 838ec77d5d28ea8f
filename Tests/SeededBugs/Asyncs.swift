import ExecutionContexts
import ExecutionContextsTesting

/// Faults of promises and of combinators.
extension SeededBug {
    static let asyncs: [SeededBug] = [losersEffect, orderOfArrival, shortWay, deletedBeneath]

    /// The first of two mirrors wins, but the other one has also written its file.
    static let losersEffect = SeededBug("effect of the one that lost", .invariant, depth: 1) {
        sim, isMended in
        let (pool, main) = (sim.global, sim.main)
        let files = Tracked<[String]>([], name: "files")
        sim.spawn("installer") {
            let mirrors = ["near", "far"].map { mirror in
                pool.submit { () -> String in
                    if !isMended { files.value += [mirror] }
                    return mirror
                }
            }
            let winner = try Async.first(of: mirrors).wait()
            if isMended { main.execute { files.value += [winner] } }
        }
        sim.finally("installed once") { files.value.count == 1 }
    }

    /// Parts are joined in the order of arrival, not in the order of the request.
    static let orderOfArrival = SeededBug("parts in the order of arrival", .invariant, depth: 1) {
        sim, isMended in
        let (main, pool) = (sim.main, sim.global)
        let text = Tracked("", name: "text")
        sim.spawn("reader") {
            let parts = ["a", "b"].map { part in pool.submit { part } }
            if isMended {
                Async.all(parts).onSuccess(on: main) { text.value = $0.joined() }
            } else {
                for part in parts { part.onSuccess(on: main) { text.value += $0 } }
            }
        }
        sim.finally("the text is right") { text.value == "ab" }
    }

    /// A caller that finds the answer uses it at once, before earlier callbacks are called.
    static let shortWay = SeededBug("short way overtakes a callback", .invariant, depth: 1) {
        sim, isMended in
        let (main, promise) = (sim.main, Promise<Int>())
        let order = Tracked<[String]>([], name: "order")
        sim.spawn("screen") {
            let answer = promise.async
            answer.onComplete(on: main) { _ in order.value += ["title"] }
            if !isMended && answer.isCompleted {
                order.value += ["rows"]
            } else {
                answer.onComplete(on: main) { _ in order.value += ["rows"] }
            }
        }
        sim.spawn("network") { promise.succeed(1) }
        sim.finally("the title comes first") { order.value == ["title", "rows"] }
    }

    private struct Offline: Error {}

    /// `all` fails with its first part, and a folder is deleted that another part still writes to.
    static let deletedBeneath = SeededBug("deleted beneath a part", .invariant, depth: 2) {
        sim, isMended in
        let pool = sim.global
        let (isDeleted, isWrong) = (
            Tracked(false, name: "deleted"), Tracked(false, name: "written after the deletion")
        )
        sim.spawn("download") {
            let first = pool.submit { () -> Int in throw Offline() }
            let second = pool.submit { () -> Int in
                if isDeleted.value { isWrong.value = true }
                return 2
            }
            _ = try? Async.all([first, second]).wait()
            if isMended { _ = try? second.wait() }
            isDeleted.value = true
        }
        sim.invariant("no part writes after the deletion") { !isWrong.value }
    }
}
