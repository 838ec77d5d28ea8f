import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import TestSupport
import Testing

/// A context of which the library does not know a fact keeps every law: facts only save time.
@Suite(.serialized, .patient)
struct ForgottenFactTests {
    @Test(arguments: Fact.allCases)
    func `Each law holds over a context of which a fact is not known`(_ fact: Fact) async {
        let bases: [any ExecutionContext] = [
            GlobalContext(), PoolContext(), SerialQueueContext(name: "queue"),
            GlobalContext().serial(), GlobalContext().limited(to: 2),
            SerialQueueContext(name: "queue").observed(by: Recorder(capacity: 64)),
            GlobalContext().labeled("label").exclusive(CriticalSection()),
        ]
        for base in sample(bases, every: 3, from: Fact.allCases.firstIndex(of: fact)! % 3) {
            let forgetful = Self.forgetting(fact, base)
            let views: [any ExecutionContext] = [
                forgetful, forgetful.serial(), forgetful.with(.inlineIfCurrent),
                forgetful.with(.observed(by: Recorder(capacity: 64))),
            ]
            for view in views {
                let breaches = await Laws.check(view, patience: Patience.event)
                #expect(breaches.isEmpty, "\(type(of: view)): \(breaches)")
            }
        }
    }

    /// Law 4 says where the body of a `sync` runs, and law 13 which jobs of actors run.
    @Test(arguments: Fact.allCases)
    func `A sync over such a context runs its body once, and sees the values bound to it`(
        _ fact: Fact
    ) async {
        await offThePool {
            let local = ThreadLocalValue<Int>()
            let queue = SerialQueueContext(name: "queue").binding(local, to: 2)
            let view = Self.forgetting(fact, queue).serial()
            #expect(view.sync { local.cachedValue() } == 2)
            let dropping = Self.forgetting(fact, Invalid.context).serial()
            let visits = Box(0)
            let end = DispatchSemaphore(value: 0)
            let guest = Guest(on: dropping)
            Task {
                await guest.visit()
                visits.withValue { $0 += 1 }
                end.signal()
            }
            end.wait()
            #expect(visits.value == 1)
        }
    }

    private static func forgetting(
        _ fact: Fact, _ base: any ExecutionContext
    ) -> any ExecutionContext {
        func wrap(_ base: some ExecutionContext) -> any ExecutionContext {
            Forgetful(base: base, fact: fact)
        }
        return wrap(base)
    }

    private enum Invalid {
        static var context: any ExecutionContext {
            let token = InvalidationToken()
            token.invalidate()
            return GlobalContext().valid(while: token)
        }
    }
}

/// What may not be known of a context. A view that skips jobs, and one of a queue, are known by
/// what they are: nothing else may stand for them.
enum Fact: CaseIterable, Sendable {
    case reliable, systemTime, thread, label, source, inline, forecast, raise, report, queue, all

    func remove(from facts: inout ContextFacts) {
        switch self {
        case .reliable: facts.isReliable = false
        case .systemTime: facts.hasSystemTime = false
        case .thread: facts.meansThread = nil
        case .label: facts.label = nil
        case .source: facts.takesSource = false
        case .inline: facts.view?.addsInline = true
        case .forecast: facts.forecast = nil
        case .raise: facts.raise = nil
        case .report: facts.report = nil
        case .queue: facts.queue = nil
        case .all: for fact in Self.allCases where fact != .all { fact.remove(from: &facts) }
        }
    }
}

/// Its base, of which the library does not know a fact.
private final class Forgetful<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    private let fact: Fact

    init(base: Base, fact: Fact) { (self.base, self.fact) = (base, fact) }

    func execute(_ work: @escaping Work) { base.execute(work) }
    func enqueue(_ work: @escaping Work) { base.enqueue(work) }
    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        base.execute(work, refused: refused)
    }

    var runsAnywhere: Bool { base.runsAnywhere }

    var facts: ContextFacts {
        var facts = base.facts
        fact.remove(from: &facts)
        return facts
    }
}

extension Forgetful: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: @escaping Work) { base.executeBarrier(work) }
}
extension Forgetful: SerialContext where Base: SerialContext {}
extension Forgetful: RefusingContext where Base: RefusingContext {
    func tryExecute(_ work: @escaping Work) throws(Refusal) { try base.tryExecute(work) }
}
extension Forgetful: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try base.sync(body) }
}

private actor Guest {
    private let context: any ActorBackingContext
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe context.asUnownedSerialExecutor()
    }

    init(on context: some ActorBackingContext) { self.context = context }

    func visit() {}
}
