import ExecutionContexts
import ExecutionContextsTesting

/// Views that guarantee less than their user assumes.
extension SeededBug {
    static let views: [SeededBug] = [limitedAsSerial, serialAcrossAwait, fullQueue, wrongCurrent]

    /// A limited view of two permits is used like a lock.
    static let limitedAsSerial = SeededBug(
        "limited view taken for a serial one", .invariant, depth: 1
    ) {
        sim, isMended in
        let view: any ExecutionContext =
            isMended ? sim.global.serial(named: "uploads") : sim.global.limited(to: 2)
        let sum = Tracked(0, name: "sum")
        sim.spawn("sync") { for _ in 1...2 { view.execute { sum.value += 1 } } }
        sim.finally("all were counted") { sum.value == 2 }
    }

    /// A serial view runs one job at a time, but a suspended task has left it.
    static let serialAcrossAwait = SeededBug("serial view left at an await", .invariant, depth: 0) {
        sim, isMended in
        let (view, disk, file) = (
            sim.global.serial(named: "file"), sim.serial(named: "disk"), Tracked("", name: "file")
        )
        for name in ["a", "b"] {
            sim.task(name) {
                try await view.runTask {
                    if isMended {
                        try await disk.run { file.value += name }
                    } else {
                        let text = file.value
                        try await disk.run {}
                        file.value = text + name
                    }
                }
            }
        }
        sim.finally("both are in the file") { file.value.count == 2 }
    }

    /// A full queue drops its oldest entry, which was needed.
    static let fullQueue = SeededBug("entry dropped by a full queue", .invariant, depth: 0) {
        sim, isMended in
        let (dropped, written) = (Tracked(0, name: "dropped"), Tracked(0, name: "written"))
        let disk = sim.serial(named: "disk")
        let log = disk.bounded(
            to: 1, overflow: isMended ? .wait : .dropOldest { _ in dropped.value += 1 })
        sim.spawn("service") { for _ in 1...3 { log.submit { written.value += 1 } } }
        sim.finally("every entry is written") { written.value == 3 }
    }

    /// A caller on the context runs inline, and so overtakes the jobs that wait.
    static let wrongCurrent = SeededBug("inline work overtakes", .invariant, depth: 2) {
        sim, isMended in
        let main = sim.main
        let (order, hasArrived) = (
            Tracked<[Int]>([], name: "order"), Tracked(false, name: "arrived")
        )
        @Sendable func show(_ event: Int) {
            if !isMended && main.isCurrent == true {
                order.value += [event]
            } else {
                main.execute { order.value += [event] }
            }
        }
        sim.spawn("network") {
            show(1)
            hasArrived.value = true
        }
        sim.spawn("user") { main.execute { if hasArrived.value { show(2) } } }
        sim.finally("what came first is shown first") { order.value != [2, 1] }
    }
}
