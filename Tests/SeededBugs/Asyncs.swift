import ExecutionContexts
import ExecutionContextsTesting

/// Promises, and what is made of many.
extension SeededBug {
    static let asyncs: [SeededBug] = [losersEffect, orderOfArrival, shortWay, deletedBeneath]

    /// The first of two mirrors wins, but the other one has done its work, too.
    static let losersEffect = SeededBug("effect of the one that lost", .invariant, depth: 1) {
        sim, isMended in
        let (pool, main) = (sim.global, sim.main)
        let files = Tracked<[String]>([], "files")
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

    /// Parts are put together in the order in which they come, not in that of the request.
    static let orderOfArrival = SeededBug("parts in the order of arrival", .invariant, depth: 1) {
        sim, isMended in
        let (main, pool) = (sim.main, sim.global)
        let text = Tracked("", "text")
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

    /// Who finds the answer there takes it at once, before those who have asked earlier are told.
    static let shortWay = SeededBug("short way overtakes a callback", .invariant, depth: 1) { sim, isMended in
        let (main, promise) = (sim.main, Promise<Int>())
        let order = Tracked<[String]>([], "order")
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

    /// All parts have failed as soon as one has, and what the others write to is taken away beneath them.
    static let deletedBeneath = SeededBug("deleted beneath a part", .invariant, depth: 2) { sim, isMended in
        let pool = sim.global
        let (isDeleted, isWrong) = (Tracked(false, "deleted"), Tracked(false, "written to what is gone"))
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
        sim.invariant("nobody writes to what is gone") { !isWrong.value }
    }
}
