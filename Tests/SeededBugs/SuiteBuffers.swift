import ExecutionContexts
import ExecutionContextsTesting

/// Programs in the style of SCTBench: buffers, stacks, barriers, and conditions that wake the wrong
/// thread.
extension SeededBug {
    static let suiteBuffers: [SeededBug] = [
        publishedTooEarly, emptyStack, oneCondition, notifiedOnce, waitedOnce, reusedBarrier,
        miscountedIdle,
    ]

    /// A ring buffer counts an element before it has stored it.
    ///
    /// As `circular_buffer` of SCTBench.
    static let publishedTooEarly = SeededBug("slot counted before it is full", .threw, depth: 1) {
        sim, isMended in
        let slots = (0..<2).map { Tracked<Int?>(nil, name: "slot \($0)") }
        let (sent, received) = (Tracked(0, name: "sent"), Tracked(0, name: "received"))
        sim.spawn("sender") {
            for element in 0..<3 {
                while sent.value - received.value == 2 { sim.yield() }
                if !isMended { sent.value = element + 1 }
                slots[element % 2].value = element
                if isMended { sent.value = element + 1 }
            }
        }
        sim.spawn("receiver") {
            for element in 0..<3 {
                while sent.value == received.value { sim.yield() }
                try require(slots[element % 2].value == element, "an element is not there yet")
                received.value = element + 1
            }
        }
    }

    /// Two threads see that the stack has an element, and both pop it.
    ///
    /// As `stack` and `queue` of SCTBench.
    static let emptyStack = SeededBug("pop of an empty stack", .threw, depth: 1) { sim, isMended in
        let section = CriticalSection(name: "stack")
        let elements = Tracked([1], name: "elements")
        @Sendable func pop() throws {
            try require(!elements.value.isEmpty, "an empty stack is popped")
            elements.value = Array(elements.value.dropLast())
        }
        sim.spawn("push") { section.execute { elements.value += [2] } }
        for name in ["alice", "bob", "carol"] {
            sim.spawn(name) {
                if isMended {
                    try section.execute { if !elements.value.isEmpty { try pop() } }
                } else if section.execute({ !elements.value.isEmpty }) {
                    try section.execute { try pop() }
                }
            }
        }
    }

    /// Producers and consumers wait for one condition, and a notification may wake one of the wrong
    /// kind.
    ///
    /// As `bbuf` of SCTBench.
    static let oneCondition = SeededBug("one condition for two kinds", .lostWakeUp, depth: 1) {
        sim, isMended in
        let buffer = Monitor<[Int]>([], name: "buffer")
        @Sendable func notify() { if isMended { buffer.notifyAll() } else { buffer.notifyOne() } }
        for index in 1...2 {
            sim.spawn("producer \(index)") {
                try buffer.wait(until: { $0.isEmpty }) { $0.append(index) }
                notify()
            }
        }
        for index in 1...2 {
            sim.spawn("consumer \(index)") {
                try buffer.wait(until: { !$0.isEmpty }) { $0.removeAll() }
                notify()
            }
        }
    }

    /// A producer notifies only if the buffer was empty, though several consumers may wait.
    ///
    /// As `sync01` of SCTBench.
    static let notifiedOnce = SeededBug("notified only when it was empty", .lostWakeUp, depth: 1) {
        sim, isMended in
        let count = Monitor(0, name: "count")
        sim.spawn("producer") {
            for _ in 1...2 {
                let isFirst = count.change { count in
                    count += 1
                    return count == 1
                }
                if isFirst || isMended { count.notifyOne() }
            }
        }
        for name in ["alice", "bob"] {
            sim.spawn(name) { try count.wait(until: { $0 > 0 }) { $0 -= 1 } }
        }
    }

    /// A consumer does not check again after its wait, and another one was faster.
    ///
    /// As `sync02` of SCTBench.
    static let waitedOnce = SeededBug("condition without a loop", .threw, depth: 2) {
        sim, isMended in
        let elements = Monitor<[Int]>([], name: "elements")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                try elements.wait(until: { !$0.isEmpty }, checksAgain: isMended) { elements in
                    try require(!elements.isEmpty, "there is no element")
                    elements.removeFirst()
                }
            }
        }
        sim.spawn("producer") {
            for element in 1...2 {
                elements.change { $0.append(element) }
                elements.notifyOne()
            }
        }
    }

    /// A barrier is reset by the last thread, and a fast thread arrives at the next one before a
    /// slow thread has seen the reset.
    ///
    /// As `streamcluster` of SCTBench.
    static let reusedBarrier = SeededBug("barrier used again too early", .lostWakeUp, depth: 1) {
        sim, isMended in
        let barrier = Monitor((arrived: 0, round: 0), name: "barrier")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                for _ in 1...2 {
                    // The work of the round.
                    sim.yield()
                    let (round, isLast) = barrier.change { state in
                        let round = state.round
                        state.arrived += 1
                        if state.arrived == 2 { state = (0, round + 1) }
                        return (round, state.arrived == 0)
                    }
                    if isLast {
                        barrier.notifyAll()
                    } else {
                        try barrier.wait(until: {
                            isMended ? $0.round != round : $0.arrived == 0
                        }) { _ in }
                    }
                }
            }
        }
    }

    /// A worker counts itself as idle before it has handed on the halves of its range.
    ///
    /// As `qsort_mt` of SCTBench.
    static let miscountedIdle = SeededBug("idle before its work is handed on", .threw, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "pool")
        let (ranges, busy) = (Tracked([2], name: "ranges"), Tracked(0, name: "busy"))
        let sorted = Tracked(0, name: "sorted")
        sim.spawn("worker") {
            while let range = section.execute({ () -> Int? in
                guard let first = ranges.value.first else { return nil }
                ranges.value = Array(ranges.value.dropFirst())
                busy.value += 1
                return first
            }) {
                if !isMended { section.execute { busy.value -= 1 } }
                section.execute {
                    if range > 1 { ranges.value += [1, range - 1] } else { sorted.value += 1 }
                    if isMended { busy.value -= 1 }
                }
            }
        }
        sim.spawn("main") {
            while section.execute({ busy.value > 0 || !ranges.value.isEmpty }) { sim.yield() }
            try require(sorted.value == 2, "a range is not sorted")
        }
    }
}
