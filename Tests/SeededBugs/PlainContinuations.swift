import ExecutionContextsTesting

/// Continuations that are lost, or resumed by two.
extension SeededBug {
    static let plainContinuations: [SeededBug] = [
        pathWithoutResume, replacedContinuation, lostPermit, forgottenAtGate, oneShot,
    ]

    private typealias Waiter<Value: Sendable> = CheckedContinuation<Value, Never>

    private actor Connection {
        private var isOpen: Bool?
        private var waiters: [Waiter<Bool>] = []

        func opened() async -> Bool {
            if let isOpen { return isOpen }
            return await withCheckedContinuation { waiters.append($0) }
        }

        func didFail(isMended: Bool) {
            isOpen = false
            if isMended { for waiter in waiters { waiter.resume(returning: false) } }
        }
    }

    /// A connection that fails does not resume the tasks that wait until it is open.
    static let pathWithoutResume = plain("path without a resume", .lostWakeUp, depth: 1) {
        isMended in
        let connection = Connection()
        async let isOpen = connection.opened()
        await connection.didFail(isMended: isMended)
        _ = await isOpen
    }

    private actor Answers {
        private var answer: Int?
        private var waiters: [Waiter<Int>] = []

        func next(isMended: Bool) async -> Int {
            if let answer { return answer }
            return await withCheckedContinuation {
                waiters = isMended ? waiters + [$0] : [$0]
            }
        }

        func arrived(_ new: Int) {
            answer = new
            for waiter in waiters { waiter.resume(returning: new) }
        }
    }

    /// The second task that waits for an answer replaces the continuation of the first.
    static let replacedContinuation = plain("continuation replaced", .lostWakeUp, depth: 1) {
        isMended in
        let answers = Answers()
        async let alice = answers.next(isMended: isMended)
        async let bob = answers.next(isMended: isMended)
        await answers.arrived(7)
        _ = await (alice, bob)
    }

    private actor Permits {
        private var free = 0
        private var waiters: [Waiter<Void>] = []

        private func takeIfFree() -> Bool {
            guard free > 0 else { return false }
            free -= 1
            return true
        }

        private func add(_ waiter: Waiter<Void>, isMended: Bool) {
            if isMended && takeIfFree() { waiter.resume() } else { waiters.append(waiter) }
        }

        nonisolated func wait(isMended: Bool) async {
            if await takeIfFree() { return }
            await withCheckedContinuation { waiter in
                Task { await add(waiter, isMended: isMended) }
            }
        }

        func signal() {
            if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
        }
    }

    /// The signal comes after a task has found no permit, and before it is a waiter.
    static let lostPermit = plain("semaphore that loses a waiter", .lostWakeUp, depth: 1) {
        isMended in
        let permits = Permits()
        async let waiting: Void = permits.wait(isMended: isMended)
        await permits.signal()
        await waiting
    }

    private actor Gate {
        private var isOpen = false
        private var waiters: [Waiter<Void>] = []

        func pass() async {
            if !isOpen { await withCheckedContinuation { waiters.append($0) } }
        }

        func open(isMended: Bool) async {
            if isMended { isOpen = true }
            for waiter in waiters {
                waiter.resume()
                await request()
            }
            waiters = []
            isOpen = true
        }
    }

    /// A gate forgets the task that comes while the gate resumes the others.
    static let forgottenAtGate = plain("waiter forgotten at a gate", .lostWakeUp, depth: 1) {
        isMended in
        let gate = Gate()
        async let alice: Void = gate.pass()
        async let bob: Void = gate.pass()
        await gate.open(isMended: isMended)
        _ = await (alice, bob)
    }

    private actor OneShot {
        private var result: String?

        var isWaiting: Bool { result == nil }

        func resume(with new: String) throws {
            try require(isWaiting, "it is resumed twice")
            result = new
        }

        func resumeIfWaiting(with new: String) { result = result ?? new }
    }

    /// The answer and the cancel both find the continuation not resumed, and then resume it.
    static let oneShot = plain("one-shot resumed by two", depth: 2) { isMended in
        let waiter = OneShot()
        @Sendable func resume(by name: String) async throws {
            if isMended { return await waiter.resumeIfWaiting(with: "ended by \(name)") }
            guard await waiter.isWaiting else { return }
            let result = "ended by \(name)"
            try await waiter.resume(with: result)
        }
        async let answer: Void = resume(by: "the answer")
        async let cancel: Void = later { try await resume(by: "a cancel") }
        _ = try await (answer, cancel)
    }
}
