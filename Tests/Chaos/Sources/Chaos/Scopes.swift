import ExecutionContexts
import Synchronization

/// Law 37: what a scope has is cancelled once, when it ends, and after its token.
@Sendable func attackScope(_ draw: inout Draw) async -> Findings {
    var findings = Findings()
    let alive = Shared(0)
    do {
        var scope: CancellationScope? = CancellationScope()
        guard let token = scope?.token else { return findings }
        let inner = scope.map { scope in
            (0...draw.below(3)).map { _ in store(in: scope, token, alive, draw.split()) }
        }
        let ends = scope.map { scope in
            Task.detached { [draw = draw.split()] in
                var draw = draw
                await draw.pause()
                if draw.oneIn(2) { scope.cancel() }
            }
        }
        // The last reference may be the one of a task.
        scope = nil
        await ends?.value
        var handles: [Handle] = []
        for task in inner ?? [] { handles += await task.value }
        findings.operations += handles.count
        await until { handles.allSatisfy { $0.isOver } }
        findings.check(!token.isValid, "the token is still valid")
        for handle in handles {
            findings.check(handle.count <= 1, "a handle was cancelled \(handle.count) times")
            findings.check(!handle.wasEarly, "a handle was cancelled before the token")
        }
    }
    await until { alive.value == 0 }
    return findings
}

/// A handle that counts how often it is cancelled.
private final class Handle: CancellationHandle {
    private let cancels = Atomic<Int>(0)
    private let early = Atomic<Bool>(false)
    private let hasFinished = Atomic<Bool>(false)
    private let token: InvalidationToken
    private let captured: Counted

    init(_ token: InvalidationToken, _ captured: Counted) {
        (self.token, self.captured) = (token, captured)
    }

    func cancel() -> Bool {
        if token.isValid { early.store(true, ordering: .relaxed) }
        // Releasing: a thread that reads the count sees the line above.
        return cancels.add(1, ordering: .releasing).newValue == 1
    }

    func finish() { hasFinished.store(true, ordering: .relaxed) }

    var isFinished: Bool { hasFinished.load(ordering: .relaxed) || count > 0 }
    var isOver: Bool { isFinished }
    var count: Int { cancels.load(ordering: .acquiring) }
    var wasEarly: Bool { early.load(ordering: .relaxed) }
}

private func store(
    in scope: CancellationScope, _ token: InvalidationToken, _ alive: Shared<Int>, _ draw: Draw
) -> Task<[Handle], Never> {
    var draw = draw
    return Task.detached {
        var handles: [Handle] = []
        for number in 0..<5 + draw.below(60) {
            let handle = Handle(token, Counted(number, alive))
            handles.append(handle)
            scope.store(handle)
            if draw.oneIn(3) { handle.finish() }
            if draw.oneIn(4) {
                let captured = Counted(number, alive)
                Promise<Int>().async.onComplete { _ in withExtendedLifetime(captured) {} }
                    .stored(in: scope)
            }
            if draw.oneIn(8) {
                let captured = Counted(number, alive)
                GlobalContext().schedule(after: .seconds(1_000)) {
                    withExtendedLifetime(captured) {}
                }.stored(in: scope)
            }
            if draw.oneIn(10) { await draw.pause() }
        }
        return handles
    }
}
