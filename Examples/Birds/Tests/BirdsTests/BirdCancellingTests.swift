import ExecutionContexts
import ExecutionContextsTesting
import Testing

@testable import Birds

/// Cancelling reaches every stage, and leaves nothing alive and nothing pending.
struct BirdCancellingTests {
    let work = ManualContext(name: "work")
    let callbacks = ManualContext(name: "callbacks")

    /// The stages of a request for birds.
    enum Stage: CaseIterable {
        case asking, list, decoding, pictures

        /// The requests in progress at the transport.
        var requests: [String] {
            switch self {
            case .asking, .decoding: []
            case .list: ["/birds.json"]
            case .pictures: BirdSite().names.prefix(4).map { "/images/\($0)" }
            }
        }
    }

    /// Advances the service from its start to a stage.
    private func go(to stage: Stage, _ transport: FakeTransport?) {
        if stage == .asking { return }
        work.runReady()
        if stage == .list { return }
        transport?.answer()
        if stage == .decoding { return }
        work.runReady()
    }

    private func dataSource(_ transport: FakeTransport) -> BirdDataSource {
        BirdDataSource(
            transport: PersistentTransport(base: transport, context: work), workingOn: work)
    }

    private func manualTransport() -> FakeTransport {
        FakeTransport(FakeTransport.ofSite(), isManual: true)
    }

    private func expectNothingPending() {
        work.runReady()
        callbacks.runReady()
        #expect(work.delayedCount == 0)
        #expect(callbacks.delayedCount == 0)
    }

    @Test(arguments: Stage.allCases)
    func `Law 26: cancelling ends the requests in progress`(_ stage: Stage) {
        let transport = manualTransport()
        let birds = dataSource(transport).getBirds()
        go(to: stage, transport)
        let count = transport.asked.count
        #expect(birds.cancel())
        #expect(transport.cancelled.sorted() == stage.requests.sorted())
        #expect(transport.pendingCount == 0)
        expectNothingPending()
        #expect(transport.asked.count == count)
    }

    @Test(arguments: Stage.allCases)
    func `Law 26: cancelling one of two subscribers ends no request`(_ stage: Stage) throws {
        let transport = manualTransport()
        let birds = dataSource(transport).getBirds()
        let (count, names) = (birds.map(\.count), birds.map { $0.map(\.name) })
        go(to: stage, transport)
        count.cancel()
        #expect(transport.cancelled.isEmpty)
        for _ in 1...3 {
            work.runReady()
            transport.answer()
        }
        work.runReady()
        #expect(try names.outcome?.get() == BirdSite().names)
    }

    @Test func `Law 25: invalidating a screen's token ends its callbacks and the requests`() {
        let (transport, token, results) = (manualTransport(), InvalidationToken(), Results())
        dataSource(transport).getBirds().onComplete(on: callbacks, while: token) { results.add($0) }
        go(to: .pictures, transport)
        token.invalidate()
        #expect(transport.cancelled.count == 4)
        expectNothingPending()
        #expect(results.all.isEmpty)
    }

    @Test(arguments: Form.allCases)
    func `Law 10: after the birds have come, nothing is alive and nothing pending`(_ form: Form)
        throws
    {
        let results = Results()
        weak var transport: FakeTransport?
        weak var service: BirdDataSource?
        weak var screen: Results?
        do {
            let (base, shown) = (manualTransport(), Results())
            let dataSource = dataSource(base)
            form.getBirds(from: dataSource, on: callbacks) { birds in
                shown.add(birds)
                results.add(birds)
            }
            (transport, service, screen) = (base, dataSource, shown)
        }
        // Pending work keeps what it needs alive, without any other reference.
        for _ in 1...3 {
            work.runReady()
            transport?.answer()
        }
        work.runReady()
        #expect(screen != nil)
        expectNothingPending()
        #expect(try results.only.get() == BirdSite.birds(BirdSite().names))
        #expect(transport == nil)
        #expect(service == nil)
        #expect(screen == nil)
    }

    @Test(arguments: Stage.allCases)
    func `Law 10: after a cancel, nothing is alive and nothing pending`(_ stage: Stage) {
        weak var transport: FakeTransport?
        weak var service: BirdDataSource?
        do {
            let base = manualTransport()
            let dataSource = dataSource(base)
            (transport, service) = (base, dataSource)
            let birds = dataSource.getBirds()
            go(to: stage, base)
            birds.cancel()
        }
        expectNothingPending()
        #expect(transport == nil)
        #expect(service == nil)
    }
}
