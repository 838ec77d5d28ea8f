extension Async: CustomStringConvertible {
    /// The outcome; while it is pending, the chain of its sources, and its subscribers.
    public var description: String {
        switch outcome {
        case .success(let value): "Async(\(value))"
        case .failure(let error): "Async(failed: \(error))"
        case nil: "Async(waits for \(state.chain); \(state.subscriberList))"
        }
    }
}

extension FutureState {
    /// The chain of sources, from this state to the one without a source; of a long chain, both
    /// ends.
    final var chain: String {
        var labels: [String] = []
        var skipped = 0
        var known: Set<ObjectIdentifier> = []
        var next: FutureState? = self
        while let state = next {
            guard known.insert(ObjectIdentifier(state)).inserted else {
                labels.append("\(state.label) again, for ever")
                break
            }
            // A source that has completed is not waited for.
            next = state.awaited.flatMap { $0.isPending ? $0 : nil }
            if labels.count < 8 || next == nil { labels.append(state.label) } else { skipped += 1 }
        }
        if skipped > 0 { labels.insert("\(skipped) more", at: labels.count - 1) }
        return labels.joined(separator: " <- ")
    }

    /// The subscribers, as text; and how many of them are interested, if some are not.
    final var subscriberList: String {
        let (labels, interested) = subscriberLabels
        var text: String
        switch labels.count {
        case 0: text = "no subscribers"
        case 1...8: text = "subscribers: " + labels.joined(separator: ", ")
        default:
            text =
                "subscribers: " + labels.prefix(8).joined(separator: ", ")
                + " and \(labels.count - 8) more"
        }
        if interested < labels.count { text += "; \(interested) interested" }
        return cancelsWhenUnwanted ? text : text + "; continues without any"
    }

    /// The labels of the subscribers, in order, and how many are interested in the outcome.
    private var subscriberLabels: (labels: [String], interested: Int) {
        lock.lock()
        let (hasFirst, subscribers) = unsafe (machine.hasFirst, machine.subscribers)
        lock.unlock()
        // Outside the lock: the name of a context may be code of the user (law 9).
        let labels = subscribers.map { $0.isOnlooker ? "\($0.label) without interest" : $0.label }
        let interested = subscribers.count { !$0.isOnlooker } + (hasFirst ? 1 : 0)
        return ((hasFirst ? [Callback.label] : []) + labels, interested)
    }

    /// Whether this subscriber is queued.
    final func isAwaited(by subscriber: FutureSubscriber) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return unsafe machine.contains(subscriber)
    }
}
