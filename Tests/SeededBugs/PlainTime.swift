import ExecutionContextsTesting

/// Sleeps and time limits that race with work.
extension SeededBug {
    static let plainTime: [SeededBug] = [
        debounceTooLate, retryAfterSuccess, resultAfterTimeout, lateWatchdog,
    ]

    private actor Editor {
        private var text = ""
        private var saving: Task<Void, Never>?
        private(set) var hasSavedOldText = false

        func type(_ new: String, isMended: Bool) -> Task<Void, Never> {
            text = new
            saving?.cancel()
            let task = Task {
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
                await request()
                if !isMended || !Task.isCancelled { save(new) }
            }
            saving = task
            return task
        }

        private func save(_ saved: String) { if saved != text { hasSavedOldText = true } }
    }

    /// The next letter cancels a save whose sleep has ended.
    static let debounceTooLate = plain("debounce cancelled too late", depth: 1, time: .racing) {
        isMended in
        let editor = Editor()
        let first = await editor.type("s", isMended: isMended)
        await request()
        let second = await editor.type("sw", isMended: isMended)
        _ = await (first.value, second.value)
        try await require(!editor.hasSavedOldText, "an old text is saved")
    }

    /// Returns what `work` returns, or nil after a second.
    private static func limited<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Value, drains: Bool = false
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await work() }
            group.addTask {
                try? await Task.sleep(for: .seconds(1))
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            guard drains, first == nil else { return first }
            // The work may still have ended.
            return await group.first { $0 != nil } ?? nil
        }
    }

    private actor Bank {
        private(set) var charges = 0
        private var orders: Set<String> = []

        func charge(_ order: String, isMended: Bool) async {
            await request()
            if isMended && !orders.insert(order).inserted { return }
            charges += 1
        }
    }

    /// The first attempt exceeds its time limit, and succeeds.
    static let retryAfterSuccess = plain("retry after a success", depth: 1, time: .racing) {
        isMended in
        let bank = Bank()
        for _ in 1...2 {
            let attempt: Void? = await limited { await bank.charge("book", isMended: isMended) }
            if attempt != nil { break }
        }
        try await require(bank.charges == 1, "the book is paid twice")
    }

    private actor Mailbox {
        private var mails = ["hello"]

        func take() async -> String? {
            await request()
            return mails.popLast()
        }
    }

    /// The mail is taken, and the time limit ends first.
    static let resultAfterTimeout = plain("result that loses to a timeout", depth: 1, time: .racing)
    { isMended in
        let mailbox = Mailbox()
        var mail: String?
        for _ in 1...2 where mail == nil {
            mail = await limited({ await mailbox.take() }, drains: isMended) ?? nil
        }
        try require(mail == "hello", "a mail is lost")
    }

    private actor Screen {
        private(set) var text = ""

        func showOffline(isMended: Bool) { if !(isMended && text == "ready") { text = "offline" } }
        func showReady() { text = "ready" }
    }

    /// The answer cancels a watchdog that has slept and is about to speak.
    static let lateWatchdog = plain("watchdog speaks after the answer", depth: 1, time: .racing) {
        isMended in
        let screen = Screen()
        let watchdog = Task(name: "watchdog") {
            try await Task.sleep(for: .seconds(5))
            await screen.showOffline(isMended: isMended)
        }
        await request()
        watchdog.cancel()
        await screen.showReady()
        _ = await watchdog.result
        try await require(screen.text == "ready", "the screen shows offline after the answer")
    }
}
