extension Async: CustomStringConvertible {
    /// How it ended; or what it waits for, one thing leading to the next, and who waits for it.
    public var description: String {
        switch outcome {
        case .success(let value): "Async(\(value))"
        case .failure(let error): "Async(failed: \(error))"
        case nil: "Async(waits for \(cell.chain); \(cell.audience))"
        }
    }
}

extension AsyncCell {
    /// What waits for what, from this cell to the one that waits for nobody; of a long chain, the ends.
    final var chain: String {
        var labels: [String] = []
        var skipped = 0
        var known: Set<ObjectIdentifier> = []
        var next: AsyncCell? = self
        while let cell = next {
            guard known.insert(ObjectIdentifier(cell)).inserted else {
                labels.append("\(cell.label) again, for ever")
                break
            }
            // What has ended is not waited for.
            next = cell.awaited.flatMap { $0.isPending ? $0 : nil }
            if labels.count < 8 || next == nil { labels.append(cell.label) } else { skipped += 1 }
        }
        if skipped > 0 { labels.insert("\(skipped) more", at: labels.count - 1) }
        return labels.joined(separator: " <- ")
    }

    /// Who waits for this.
    final var audience: String {
        let labels = partyLabels
        switch labels.count {
        case 0: return "nobody waits for it"
        case 1...8: return "for it wait " + labels.joined(separator: ", ")
        default:
            return "for it wait " + labels.prefix(8).joined(separator: ", ") + " and \(labels.count - 8) more"
        }
    }

    /// Who waits for this, in order.
    final var partyLabels: [String] {
        lock.lock()
        let (hasFirst, parties) = unsafe (state.hasFirst, state.parties)
        lock.unlock()
        // Outside the lock: the name of a context is the user's to say (law 9).
        return (hasFirst ? [Callback.label] : []) + parties.map(\.label)
    }

    /// Whether this party waits to be told.
    final func isAwaited(by party: Party) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return unsafe state.contains(party)
    }
}
