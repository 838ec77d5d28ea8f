import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import Testing

/// A kind of context with exclusive blocking calls, made anew for each test.
struct ExclusiveSubject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> any SynchronousBarrierContext

    init(_ name: String, _ make: @escaping @Sendable () -> any SynchronousBarrierContext) {
        testDescription = name
        self.make = make
    }

    static let all: [ExclusiveSubject] = own + views + coordinators + decorated

    static let own: [ExclusiveSubject] = [
        ExclusiveSubject("own serial queue") { SerialQueueContext(name: "serial") },
        ExclusiveSubject("own serial queue over another") {
            SerialQueueContext(name: "serial", target: DispatchQueue(label: "target"))
        },
        ExclusiveSubject("own barrier queue") { BarrierQueueContext(name: "barrier") },
    ]

    static let views: [ExclusiveSubject] = [
        ExclusiveSubject("serial view of global") { GlobalContext().serial() },
        ExclusiveSubject("serial view of immediate") { ImmediateContext().serial() },
        ExclusiveSubject("serial view of a limited view") {
            GlobalContext().limited(to: 2).serial()
        },
        ExclusiveSubject("serial view of one thread") { ThreadContext(name: "one").serial() },
        ExclusiveSubject("serial view of a run loop") {
            RunLoopThreadContext(name: "loop").serial()
        },
        ExclusiveSubject("serial view of a serial view") { GlobalContext().serial().serial() },
    ]

    static let coordinators: [ExclusiveSubject] = [
        ExclusiveSubject("writing side") { ReadWriteCoordinator().writing },
        ExclusiveSubject("writing side, writes on a queue") {
            ReadWriteCoordinator(writesOn: SerialQueueContext(name: "writes")).writing
        },
        ExclusiveSubject("writing side over a barrier queue") {
            ReadWriteCoordinator(over: BarrierQueueContext(name: "barrier")).writing
        },
        ExclusiveSubject("observed writing side") {
            ReadWriteCoordinator().writing.observed(by: NoObserver())
        },
    ]

    static let decorated: [ExclusiveSubject] = [
        ExclusiveSubject("named barrier queue") {
            BarrierQueueContext(name: "barrier").named("another")
        },
        ExclusiveSubject("observed serial view") {
            GlobalContext().serial().observed(by: NoObserver())
        },
        ExclusiveSubject("watched serial view") {
            GlobalContext().serial().watched(limit: .seconds(600)) { _ in }
        },
        ExclusiveSubject("propagating serial queue") {
            SerialQueueContext(name: "serial").propagating(Decorator.$local)
        },
        ExclusiveSubject("inline barrier queue") {
            BarrierQueueContext(name: "barrier").inlineIfCurrent()
        },
    ]
}
