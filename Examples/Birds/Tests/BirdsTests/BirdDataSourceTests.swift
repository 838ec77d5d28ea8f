import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

@testable import Birds

/// The service without a network: its results, their time and their context, in both forms.
struct BirdDataSourceTests {
    let results = Results()
    let names = ["wren", "robin", "dipper"]

    private func dataSource(
        _ transport: some Transport, _ work: any ExecutionContext = ImmediateContext()
    ) -> BirdDataSource {
        BirdDataSource(transport: transport, workingOn: work)
    }

    // MARK: Where and when

    @Test(arguments: Form.allCases)
    func `On immediate contexts the birds are there when the call returns`(_ form: Form) throws {
        let transport = FakeTransport(FakeTransport.ofSite(names))
        form.getBirds(from: dataSource(transport), on: .immediate) { [results] in results.add($0) }
        #expect(try results.only.get() == BirdSite.birds(names))
        #expect(
            transport.asked == ["/birds.json", "/images/wren", "/images/robin", "/images/dipper"])
    }

    @Test(arguments: Form.allCases)
    func `On manual contexts each step waits until the test runs its context`(_ form: Form) throws {
        let (work, callbacks) = (ManualContext(name: "work"), ManualContext(name: "callbacks"))
        let transport = FakeTransport(FakeTransport.ofSite(names), isManual: true)
        form.getBirds(from: dataSource(transport, work), on: callbacks) { [results] in
            results.add($0, isOnContext: callbacks.isCurrent)
        }
        transport.answer()
        #expect(transport.asked == ["/birds.json"])
        #expect(work.runReady() == 1)
        #expect(transport.asked.count == 4)
        transport.answer()
        #expect(callbacks.readyCount == 0)
        #expect(work.runReady() == 3)
        #expect(results.all.isEmpty)
        #expect(callbacks.runReady() == 1)
        #expect(try results.only.get() == BirdSite.birds(names))
        #expect(results.wereOnContext == [true])
    }

    @Test func `Law 6: an answer that comes on the working context is used inline`() {
        let work = ManualContext()
        let transport = SharingTransport(
            base: FakeTransport(FakeTransport.ofSite(names)), context: work)
        let birds = dataSource(transport, work).getBirds()
        // The list, then three pictures: the context runs no other job.
        #expect(work.runReady() == 4)
        #expect(birds.isCompleted)
    }

    @Test(arguments: ContextKind.allCases, Form.allCases)
    func `The same birds come on every context`(_ kind: ContextKind, _ form: Form) async throws {
        let (context, transport) = (kind.context, FakeTransport(FakeTransport.ofSite(names)))
        let birds = try await Async.fromCallback { done in
            form.getBirds(from: dataSource(transport, context), on: context, done)
        }.get()
        #expect(birds == BirdSite.birds(names))
    }

    @Test func `No more than four pictures are fetched at a time`() {
        let transport = FakeTransport(FakeTransport.ofSite(), isManual: true)
        let birds = dataSource(transport).getBirds()
        transport.answer()
        #expect(transport.pendingCount == 4)
        transport.answer()
        #expect(transport.pendingCount == 2)
        transport.answer()
        #expect(birds.isCompleted)
    }

    // MARK: Results

    @Test func `The birds come in the order of the list, whichever picture comes first`() throws {
        let transport = FakeTransport(FakeTransport.ofSite(names), isManual: true)
        let birds = dataSource(transport).getBirds()
        transport.answer()
        transport.answer(lastFirst: true)
        #expect(try birds.outcome?.get() == BirdSite.birds(names))
    }

    @Test(arguments: [nil, Data(), Data("P5 8 8 255\nshort".utf8)])
    func `A bird whose picture cannot be loaded comes without one`(_ answer: Data?) throws {
        var answers = FakeTransport.ofSite(names)
        answers["/images/robin"] = answer.map { .success($0) }
        let birds = try #require(try dataSource(FakeTransport(answers)).getBirds().outcome?.get())
        #expect(birds.map(\.name) == names)
        #expect(birds.map { $0.picture == nil } == [false, true, false])
    }

    @Test(arguments: ["", "{}", "[{\"name\": \"wren\"}]"])
    func `An unreadable list is one error and no birds`(_ list: String) {
        let transport = FakeTransport(["/birds.json": .success(Data(list.utf8))])
        let birds = dataSource(transport).getBirds()
        #expect(throws: BirdError.unreadable("the list of birds")) { try birds.outcome?.get() }
        #expect(transport.asked == ["/birds.json"])
    }

    @Test(arguments: Form.allCases)
    func `The transport's error reaches the caller, on the caller's context`(_ form: Form) {
        let callbacks = ManualContext()
        form.getBirds(from: dataSource(FakeTransport()), on: callbacks) { [results] in
            results.add($0, isOnContext: callbacks.isCurrent)
        }
        #expect(results.all.isEmpty)
        callbacks.runReady()
        #expect(throws: FakeTransport.Missing(path: "/birds.json")) { try results.only.get() }
        #expect(results.wereOnContext == [true])
    }

    @Test(arguments: Form.allCases)
    func `An empty list is an answer like any other`(_ form: Form) throws {
        let transport = FakeTransport(FakeTransport.ofSite([]))
        form.getBirds(from: dataSource(transport), on: .immediate) { [results] in results.add($0) }
        #expect(try results.only.get().isEmpty)
    }

    @Test(arguments: Form.allCases)
    func `Two concurrent calls do not mix their birds`(_ form: Form) throws {
        let transport = FakeTransport(FakeTransport.ofSite(names), isManual: true)
        let dataSource = dataSource(transport)
        for _ in 1...2 {
            form.getBirds(from: dataSource, on: .immediate) { [results] in results.add($0) }
        }
        for _ in 1...2 { transport.answer(lastFirst: true) }
        #expect(
            try results.all.map { try $0.get() } == [BirdSite.birds(names), BirdSite.birds(names)])
    }
}
