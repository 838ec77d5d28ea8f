import ExecutionContextsTesting

/// Tasks that run in another order than assumed, or whose end is not awaited.
extension SeededBug {
    static let plainTasks: [SeededBug] = [
        taskForEachLine, orderOfPriorities, firstOfGroup, unawaitedChild, sharedTask,
    ]

    /// A separate task writes each line.
    static let taskForEachLine = plain("a task for each line", depth: 1) { isMended in
        let (log, lines) = (Log(), ["one", "two", "three"])
        if isMended {
            await Task { for line in lines { await log.add(line) } }.value
        } else {
            let writers = lines.map { line in Task(name: line) { await log.add(line) } }
            for writer in writers { await writer.value }
        }
        try await require(log.entries == lines, "the lines are out of order")
    }

    /// A task of high priority is assumed to run before one of low priority.
    static let orderOfPriorities = plain("order of priorities", depth: 1) { isMended in
        let log = Log()
        let opening = Task(name: "opening", priority: .high) { await log.add("open") }
        let writing = Task(name: "writing", priority: .low) {
            if isMended { await opening.value }
            await log.add("write")
        }
        _ = await (opening.value, writing.value)
        try await require(log.entries.first == "open", "a closed file is written")
    }

    private struct DiskFull: Error {}

    /// The group is left after its first child, and the error of the other one is lost.
    static let firstOfGroup = plain("group left after its first child", depth: 1) { isMended in
        @Sendable func save(_ file: String) async throws {
            await request()
            if file == "large" { throw DiskFull() }
        }
        var isSaved = true
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for file in ["large", "small"] { group.addTask { try await save(file) } }
                if isMended { try await group.waitForAll() } else { try await group.next() }
            }
        } catch {
            isSaved = false
        }
        try require(!isSaved, "a file that is not saved counts as saved")
    }

    /// The end of the scope cancels the child that is not awaited.
    static let unawaitedChild = plain("async let cancelled at the end of its scope", depth: 2) {
        isMended in
        let log = Log()
        @Sendable func publish() async {
            async let audit: Void = log.addUnlessCancelled("published")
            await later()
            if isMended { await audit }
        }
        await publish()
        try await require(log.entries == ["published"], "the audit misses an entry")
    }

    private actor Loader {
        private var loading: Task<Int?, Never>?

        func image(isMended: Bool) async -> Int? {
            let task =
                loading
                ?? Task {
                    await request()
                    return Task.isCancelled ? nil : 7
                }
            loading = task
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                if !isMended { task.cancel() }
            }
        }
    }

    /// Two callers share a load, and the one that is cancelled cancels it for both.
    static let sharedTask = plain("shared task cancelled by one caller", depth: 1) { isMended in
        let loader = Loader()
        let row = Task(name: "row") { await loader.image(isMended: isMended) }
        let detail = Task(name: "detail") { await loader.image(isMended: isMended) }
        await later()
        row.cancel()
        _ = await row.value
        try await require(detail.value == 7, "a caller that waits gets no image")
    }
}
