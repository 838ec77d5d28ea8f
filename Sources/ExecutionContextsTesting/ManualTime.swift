internal import ExecutionContexts

/// A time that stands still until it is moved on.
final class ManualTime: TimeSource {
    private struct State {
        var now = Moment(nanoseconds: 0)
        var added: UInt64 = 0
        var pending: [Entry] = []
    }

    private struct Entry {
        var deadline: Moment
        var order: UInt64
        var delay: DelayedWork
    }

    private let state = Locked(State())

    var now: Moment { state.withLock { $0.now } }

    var delayedCount: Int { state.withLock { $0.pending.count } }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        state.withLock { state in
            state.added += 1
            let entry = Entry(deadline: delay.deadline, order: state.added, delay: delay)
            // Newer entries stand behind older ones of the same deadline.
            let position = state.pending.partitioningIndex { $0.deadline > entry.deadline }
            state.pending.insert(entry, at: position)
        }
    }

    func remove(_ delay: DelayedWork) {
        let removed = state.withLock { state in
            state.pending.firstIndex { $0.delay === delay }.map { state.pending.remove(at: $0) }
        }
        // Freed outside the lock, captures and all (law 9).
        _ = removed
    }

    /// Moves time on to the next deadline up to `moment` and fires what is due then, in order.
    func fireNext(upTo moment: Moment) -> Bool {
        let due = state.withLock { state -> DelayedWork? in
            guard let first = state.pending.first, first.deadline <= moment else { return nil }
            state.now = max(state.now, first.deadline)
            return state.pending.removeFirst().delay
        }
        due?.fire()
        return due != nil
    }

    func skip(to moment: Moment) {
        state.withLock { $0.now = max($0.now, moment) }
    }
}

extension Array {
    /// The first index from which `belongsBehind` holds, in an array sorted by it.
    fileprivate func partitioningIndex(_ belongsBehind: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if belongsBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
