import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Law 1 over bases that break it: every caller gets one outcome, no job runs twice, and the view
/// works again afterwards.
@Suite(.serialized, .patient)
struct FaultyBaseTests {
    /// The views that have at most one drain on their base, and must notice when the base drops it.
    static let views: [Decorator] = [
        .serial, .limited, .barrier, .refusing, .dropping, .waiting, .callerRuns,
    ]

    /// What the base does with jobs while it is faulty.
    enum Fault: CaseIterable, Sendable {
        case dropsAll, dropsSome, refuses, doubles, reorders
    }

    @Test(arguments: views)
    func `A caller gets a refusal when the base drops its job, and the view works again afterwards`(
        _ decorator: Decorator
    ) async throws {
        for fault in [Fault.dropsAll, .refuses] {
            let base = FaultyBase(fault)
            let view = try #require(decorator.apply(base))
            for _ in 0..<3 {
                let refusal = await #expect(throws: Refusal.self) { try await view.run {} }
                // A view that submits each job to its base separately passes on the base's refusal.
                let expected: [Refusal.Reason] = [.abandoned, .full(capacity: 0)]
                #expect(try expected.contains(#require(refusal).reason))
                #expect(refusal?.sourceLocation?.contains("FaultyBaseTests.swift") == true)
            }
            base.isFaulty = false
            #expect(try await view.run { 42 } == 42)
            // A drain may still run after its last caller returned, and would run the next job.
            await base.waitUntilIdle()
            base.isFaulty = true
            await #expect(throws: Refusal.self) { try await view.run {} }
            base.isFaulty = false
            #expect(try await view.submit { 42 }.get() == 42)
        }
    }

    @Test(arguments: views, Fault.allCases)
    func `Each of many jobs runs at most once, and each caller gets one outcome`(
        _ decorator: Decorator, _ fault: Fault
    ) async throws {
        let base = FaultyBase(fault)
        let view = try #require(decorator.apply(base))
        let runs = Box(Array(repeating: 0, count: 200))
        let outcomes = await withTaskGroup(of: Int?.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try? await view.run { () -> Int in
                        runs.withValue { $0[index] += 1 }
                        return index
                    }
                }
            }
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        #expect(outcomes.count == 200)
        // A job has run if and only if its caller got the value.
        let values = Set(outcomes.compactMap { $0 })
        for (index, count) in runs.value.enumerated() {
            #expect(count == (values.contains(index) ? 1 : 0))
        }
        if fault == .doubles || fault == .reorders { #expect(values.count == 200) }
        base.isFaulty = false
        #expect(try await view.run { 42 } == 42)
    }

    @Test(arguments: [Fault.doubles, .reorders])
    func `Law 2: a serial view keeps order over a base that keeps none`(_ fault: Fault) async {
        let view = FaultyBase(fault).serial()
        let breaches = await Laws.check(view, patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test(arguments: [Fault.doubles, .reorders])
    func `Law 3: a barrier view keeps barriers over a base that keeps no order`(_ fault: Fault)
        async
    {
        for view in [FaultyBase(fault).barrier(), FaultyBase(fault).limited(to: 3)]
            as [any BarrierContext]
        {
            let breaches = await Laws.check(view, patience: Patience.event)
            #expect(breaches.isEmpty, "\(breaches)")
        }
    }

    @Test(arguments: views)
    func `Law 10: captures of a dropped job are released`(_ decorator: Decorator) throws {
        let view = try #require(decorator.apply(FaultyBase(.dropsAll)))
        weak var capture: Box<Int>?
        do {
            let box = Box(0)
            capture = box
            view.execute { box.value += 1 }
        }
        #expect(capture == nil)
    }

    @Test(arguments: views)
    func `Law 9: the deinit of a capture of a dropped job may use the view`(
        _ decorator: Decorator
    ) async throws {
        let base = FaultyBase(.dropsAll)
        let view = try #require(decorator.apply(base))
        let value = await withCheckedContinuation { continuation in
            let farewell = Farewell {
                base.isFaulty = false
                view.execute { continuation.resume(returning: 42) }
            }
            view.execute { _ = farewell }
        }
        #expect(value == 42)
    }
}

/// A base that breaks law 1 or keeps no order, until `isFaulty` is set to false.
private final class FaultyBase: ExecutionContext {
    private struct State {
        var isFaulty = true
        var count = 0
        var aside: [Work] = []
    }

    private let fault: FaultyBaseTests.Fault
    private let state = Box(State())
    /// The jobs that were forwarded while it was not faulty.
    private let sound = DispatchGroup()

    init(_ fault: FaultyBaseTests.Fault) { self.fault = fault }

    var isFaulty: Bool {
        get { state.value.isFaulty }
        set { state.withValue { $0.isFaulty = newValue } }
    }

    var name: String { "faulty" }

    /// Waits until all jobs that were forwarded while it was not faulty have run.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            sound.notify(queue: .global()) { continuation.resume() }
        }
    }

    func execute(_ work: @escaping Work) { execute(work, refused: { _ in }) }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        let (isFaulty, count) = state.withValue { state in
            state.count += 1
            return (state.isFaulty, state.count)
        }
        let pool = DispatchQueue.global()
        guard isFaulty else { return pool.async(group: sound, execute: work) }
        switch fault {
        case .dropsAll: return
        case .dropsSome: if count % 3 != 0 { pool.async(execute: work) }
        case .refuses: refused(Refusal(.full(capacity: 0), by: name))
        case .doubles:
            pool.async(execute: work)
            pool.async(execute: work)
        case .reorders:
            // Runs the newest job first.
            state.withValue { $0.aside.append(work) }
            pool.async { [state] in state.withValue { $0.aside.popLast() }?() }
        }
    }
}
