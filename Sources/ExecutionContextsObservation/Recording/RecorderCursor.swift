internal import ExecutionContexts

/// The position of a reader that follows a recorder.
struct RecorderCursor {
    /// The ring that it reads: clearing a recorder replaces its ring.
    fileprivate var generation = -1
    /// The number of slots, and of events, before the next one, counted from the first ever.
    fileprivate var slot = 0
    fileprivate var event = 0
}

/// One batch for a reader that follows a recorder.
struct RecorderBatch {
    fileprivate(set) var entries: [RecorderEntry] = []
    /// By the numbers in these entries. In a later batch a number may mean another lane.
    fileprivate(set) var lanes: [RecorderLane] = []
    fileprivate(set) var labels: [String] = []
    /// Whether the reader must discard what it has read before.
    fileprivate(set) var isFirst = false
    /// How many events were overwritten before the reader reached them.
    fileprivate(set) var missed = 0
    /// Whether there are no more events now.
    fileprivate(set) var isLast = true
}

extension Recorder {
    /// Reads the next events. The lock is held while the buffers of threads are collected, and at
    /// most `limit` slots are copied.
    func next(_ cursor: inout RecorderCursor, limit: Int = 1_024) -> RecorderBatch {
        var parts: [PackedEvent] = []
        var batch = withRing { $0.next(&cursor, limit: max(limit, 3), &parts) }
        var index = 0
        // The last event may be truncated; it is read again in the next batch.
        while index < parts.count, index + parts[index].length <= parts.count {
            batch.entries.append(PackedEvent.unpacked(parts, at: index))
            index += parts[index].length
        }
        cursor.slot += index
        cursor.event += batch.entries.count
        return batch
    }
}

extension RecorderRing {
    fileprivate func next(
        _ cursor: inout RecorderCursor, limit: Int, _ parts: inout [PackedEvent]
    ) -> RecorderBatch {
        var batch = RecorderBatch()
        batch.lanes = lanes.all
        batch.labels = labels.all
        if cursor.generation != generation {
            batch.isFirst = true
            cursor = RecorderCursor(generation: generation, slot: freed, event: overwritten)
        } else if cursor.slot < freed {
            batch.missed = overwritten - cursor.event
            (cursor.slot, cursor.event) = (freed, overwritten)
        }
        parts = copy(from: cursor.slot - freed, limit: limit)
        batch.isLast = cursor.slot - freed + parts.count == used
        return batch
    }
}
