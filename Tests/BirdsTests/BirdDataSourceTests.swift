import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

@testable import Birds

/// The service without a network: what comes, when, and on which context.
struct BirdDataSourceTests {
    let results = Results()
    let names = ["wren", "robin", "dipper"]

    private func dataSource(
        _ transport: some Transport, _ work: any ExecutionContext = ImmediateContext(),
        _ callbacks: any ExecutionContext = ImmediateContext()
    ) -> BirdDataSource {
        BirdDataSource(transport: transport, workingOn: work, callingBackOn: callbacks)
    }

    // MARK: Where and when

    @Test func `On immediate contexts the birds are there when the call returns`() throws {
        let transport = FakeTransport(FakeTransport.ofSite(names))
        dataSource(transport).getBirds { [results] in results.add($0) }
        #expect(try results.only.get() == BirdSite.birds(names))
        #expect(transport.asked == ["/birds.json", "/images/wren", "/images/robin", "/images/dipper"])
    }

    @Test func `On manual contexts each step waits until its context is told to go on`() throws {
        let (work, callbacks) = (ManualContext(name: "work"), ManualContext(name: "callbacks"))
        let transport = FakeTransport(FakeTransport.ofSite(names), isPatient: true)
        dataSource(transport, work, callbacks).getBirds { [results] in
            results.add($0, isInPlace: callbacks.isCurrent)
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
        #expect(results.wereInPlace == [true])
    }

    @Test func `Law 6: what a transport answers on the working context is used on the spot`() {
        let work = ManualContext()
        let transport = SharingTransport(
            base: FakeTransport(FakeTransport.ofSite(names)), context: work)
        dataSource(transport, work).getBirds { [results] in results.add($0) }
        // The list, then three pictures: no other turn of the context is needed.
        #expect(work.runReady() == 4)
        #expect(results.all.count == 1)
    }

    @Test(arguments: Place.allCases)
    func `The same birds come on every context`(_ place: Place) async throws {
        let (context, transport) = (place.context, FakeTransport(FakeTransport.ofSite(names)))
        let birds = try await withCheckedThrowingContinuation { done in
            dataSource(transport, context, context).getBirds { done.resume(with: $0) }
        }
        #expect(birds == BirdSite.birds(names))
    }

    // MARK: What comes

    @Test func `The birds come in the order of the list, whichever picture comes first`() throws {
        let transport = FakeTransport(FakeTransport.ofSite(names), isPatient: true)
        dataSource(transport).getBirds { [results] in results.add($0) }
        transport.answer()
        transport.answer(lastFirst: true)
        #expect(try results.only.get() == BirdSite.birds(names))
    }

    @Test(arguments: [nil, Data(), Data("P5 8 8 255\nshort".utf8)])
    func `A bird whose picture cannot be had comes without`(_ answer: Data?) throws {
        var answers = FakeTransport.ofSite(names)
        answers["/images/robin"] = answer.map { .success($0) }
        dataSource(FakeTransport(answers)).getBirds { [results] in results.add($0) }
        let birds = try results.only.get()
        #expect(birds.map(\.name) == names)
        #expect(birds.map { $0.picture == nil } == [false, true, false])
    }

    @Test(arguments: ["", "{}", "[{\"name\": \"wren\"}]"])
    func `A list that cannot be read is one error and no birds`(_ list: String) {
        var answers = FakeTransport.ofSite(names)
        answers["/birds.json"] = .success(Data(list.utf8))
        let transport = FakeTransport(answers)
        dataSource(transport).getBirds { [results] in results.add($0) }
        #expect(throws: BirdError.unreadable("the list of birds")) { try results.only.get() }
        #expect(transport.asked == ["/birds.json"])
    }

    @Test func `The error of the transport comes through, on the context for callbacks`() {
        let callbacks = ManualContext()
        dataSource(FakeTransport([:]), ImmediateContext(), callbacks).getBirds { [results] in
            results.add($0, isInPlace: callbacks.isCurrent)
        }
        #expect(results.all.isEmpty)
        callbacks.runReady()
        #expect(throws: FakeTransport.Missing(path: "/birds.json")) { try results.only.get() }
        #expect(results.wereInPlace == [true])
    }

    @Test func `An empty list is an answer like any other`() throws {
        dataSource(FakeTransport(FakeTransport.ofSite([]))).getBirds { [results] in results.add($0) }
        #expect(try results.only.get().isEmpty)
    }

    @Test func `Two calls at a time do not mix their birds`() throws {
        let transport = FakeTransport(FakeTransport.ofSite(names), isPatient: true)
        let dataSource = dataSource(transport)
        for _ in 1...2 { dataSource.getBirds { [results] in results.add($0) } }
        for _ in 1...2 { transport.answer(lastFirst: true) }
        #expect(try results.all.map { try $0.get() } == [BirdSite.birds(names), BirdSite.birds(names)])
    }
}
