import Foundation

// Variables that threads share without anything that orders them.

// Unchecked: what orders its accesses, or does not, is the subject.
final class Counter: @unchecked Sendable {
    var count = 0
    func add() { count += 1 }
}

// Unchecked: what orders its accesses, or does not, is the subject.
final class Holder<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}

private struct Point { var (x, y) = (0, 0) }

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Settings: @unchecked Sendable {
    // Unchecked: what orders its accesses, or does not, is the subject.
    nonisolated(unsafe) static var level = 0
    lazy var parsed = [1, 2, 3]
    var onChange: () -> Void = {}
    var (isFirst, isSecond) = (false, false)
}

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Cache: @unchecked Sendable {
    private var stored: [Int]?
    func get() -> [Int] {
        if let stored { return stored }
        let made = [1, 2, 3]
        stored = made
        return made
    }
}

extension Program {
    static let variables = [
        Program("a counter", .race) { isMended in
            let (counter, guarded) = (Counter(), Guard(isMended))
            return Parts(
                { guarded { counter.add() } }, { guarded { counter.add() } },
                holds: { counter.count == 2 })
        },
        Program("an array that grows", .race) { isMended in
            let (list, guarded) = (Holder([0]), Guard(isMended))
            return Parts(
                { guarded { list.value.append(1) } }, { guarded { list.value.append(2) } },
                holds: { list.value.count == 3 })
        },
        Program("a dictionary that is read while it grows", .race) { isMended in
            let (table, guarded) = (Holder(["a": 1]), Guard(isMended))
            return Parts(
                { guarded { table.value["b"] = 2 } }, { use(guarded { table.value["a"] } ?? 0) })
        },
        Program("a set that loses a member", .race) { isMended in
            let (set, guarded) = (Holder(Set([1, 2])), Guard(isMended))
            return Parts(
                { guarded { _ = set.value.remove(1) } }, { guarded { _ = set.value.insert(3) } },
                holds: { set.value == [2, 3] })
        },
        Program("a string that grows", .race) { isMended in
            let (text, guarded) = (Holder(""), Guard(isMended))
            return Parts({ guarded { text.value += "a" } }, { use(guarded { text.value.count }) })
        },
        Program("an optional that becomes nil", .race) { isMended in
            let (object, guarded) = (Holder(Optional(Counter())), Guard(isMended))
            return Parts(
                { guarded { object.value = nil } }, { guarded { object.value?.add() } })
        },
        Program("a reference that is replaced", .race) { isMended in
            let (object, guarded) = (Holder(Counter()), Guard(isMended))
            return Parts(
                { guarded { object.value = Counter() } }, { use(guarded { object.value.count }) })
        },
        Program("a struct of two values", .race) { isMended in
            let (point, guarded) = (Holder(Point()), Guard(isMended))
            return Parts(
                { guarded { point.value.x = 1 } }, { use(guarded { point.value.x }) },
                { guarded { point.value.y = 1 } })
        },
        Program("a flag that ends a loop", .race) { isMended in
            let (flag, guarded) = (Holder(false), Guard(isMended))
            return Parts(
                { guarded { flag.value = true } },
                { for _ in 0..<3 where guarded({ flag.value }) { return } })
        },
        Program("a static variable", .race) { isMended in
            let guarded = Guard(isMended)
            Settings.level = 0
            return Parts(
                { guarded { Settings.level += 1 } }, { guarded { Settings.level += 1 } },
                holds: { Settings.level == 2 })
        },
        Program("a lazy variable", .race) { isMended in
            let (settings, guarded) = (Settings(), Guard(isMended))
            return Parts(
                { _ = guarded { settings.parsed } }, { _ = guarded { settings.parsed } })
        },
        Program("a cache that is filled at the first use", .race) { isMended in
            let (cache, guarded) = (Cache(), Guard(isMended))
            return Parts({ _ = guarded { cache.get() } }, { _ = guarded { cache.get() } })
        },
        Program("a handler that is replaced", .race) { isMended in
            let (settings, guarded) = (Settings(), Guard(isMended))
            return Parts(
                { guarded { settings.onChange = { _ = settings.isFirst } } },
                { guarded { settings.onChange() } })
        },
        Program("a captured variable", .race) { isMended in
            let guarded = Guard(isMended)
            var count = 0
            return Parts(
                { guarded { count += 1 } }, { guarded { count += 1 } }, holds: { count == 2 })
        },
        // Each thread has one of two neighbours in one word.
        Program("one of two neighbours", .race) { isMended in
            let settings = Settings()
            return Parts(
                { settings.isFirst = true },
                { if isMended { settings.isSecond = true } else { settings.isFirst = false } })
        },
        Program("an index of an array", .race) { isMended in
            let all = UnsafeMutableBufferPointer<Int>.allocate(capacity: 2)
            all.initialize(repeating: 0)
            return Parts(
                { all[0] += 1 }, { all[isMended ? 1 : 0] += 1 },
                holds: {
                    all.deallocate(); return true
                })
        },
        Program("one path without the queue", .race) { isMended in
            let (queue, counter) = (DispatchQueue(label: "counter"), Counter())
            return Parts(
                { queue.sync { counter.add() } },
                { use(isMended ? queue.sync { counter.count } : counter.count) })
        },
        Program("a write without the barrier", .race) { isMended in
            let queue = DispatchQueue(label: "list", attributes: .concurrent)
            let list = Holder([0])
            return Parts(
                { queue.async(flags: isMended ? .barrier : []) { list.value.append(1) } },
                { use(queue.sync { list.value.count }) })
        },
        Program("a sum of a parallel loop", .race) { isMended in
            let (sum, guarded) = (Holder(0), Guard(isMended))
            return Parts(
                {
                    DispatchQueue.concurrentPerform(iterations: 3) { n in guarded { sum.value += n }
                    }
                },
                holds: { sum.value == 3 })
        },
        Program("a result without a wait", .race) { isMended in
            let (group, result) = (DispatchGroup(), Counter())
            return Parts {
                DispatchQueue.global().async(group: group) { result.add() }
                if isMended { group.wait() }
                use(result.count)
            }
        },
    ]
}
