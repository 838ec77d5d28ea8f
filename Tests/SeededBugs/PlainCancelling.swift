import ExecutionContextsTesting

/// Cancellation that comes too late, or does not arrive.
extension SeededBug {
    static let plainCancelling: [SeededBug] = [
        unstructuredInside, cancelAfterEnd, checkedBeforeFetch, cancelledByDeinit,
    ]

    /// A task inside a task does not inherit its cancellation.
    static let unstructuredInside = plain("task inside a cancelled task", depth: 3) { isMended in
        let log = Log()
        let upload = Task(name: "upload") {
            if isMended {
                await log.addUnlessCancelled("sent")
            } else {
                await Task { await log.addUnlessCancelled("sent") }.value
            }
        }
        await later()
        upload.cancel()
        await log.add("cancelled")
        await upload.value
        try await require(log.entries.last == "cancelled", "it is sent after the cancel")
    }

    /// A cancel that comes after the end of the task is reported as one that has worked.
    static let cancelAfterEnd = plain("cancel after the end", depth: 2) { isMended in
        let log = Log()
        let work = Task(name: "import") {
            await later()
            return Task.isCancelled
        }
        let button = Task(name: "button") {
            await request()
            work.cancel()
            if !isMended { await log.add("cancelled") }
        }
        if await !work.value {
            await log.add("imported")
        } else if isMended {
            await log.add("cancelled")
        }
        await button.value
        try await require(log.entries.count == 1, "it is imported and cancelled")
    }

    /// The task checks its cancellation before it fetches, and not after it.
    static let checkedBeforeFetch = plain("cancel checked before the fetch", depth: 2) {
        isMended in
        let log = Log()
        let refresh = Task(name: "refresh") {
            if Task.isCancelled { return }
            await request()
            if isMended { await log.addUnlessCancelled("shown") } else { await log.add("shown") }
        }
        await later()
        refresh.cancel()
        await log.add("closed")
        await refresh.value
        try await require(log.entries.last == "closed", "a closed screen is refreshed")
    }

    private final class Draft: Sendable {
        let saving: Task<Void, Never>

        init(to log: Log) {
            saving = Task(name: "saving") {
                await request()
                if !Task.isCancelled { await log.add("draft") }
            }
        }

        deinit { saving.cancel() }

        func end() async {
            saving.cancel()
            await saving.value
        }
    }

    /// The `deinit` cancels a task that has already checked its cancellation.
    static let cancelledByDeinit = plain("deinit that cancels too late", depth: 2) { isMended in
        let log = Log()
        var draft: Draft? = Draft(to: log)
        let saving = draft?.saving
        await request()
        if isMended { await draft?.end() }
        draft = nil
        await log.clear()
        await saving?.value
        try await require(log.entries.isEmpty, "a draft is left after the log-out")
    }
}
