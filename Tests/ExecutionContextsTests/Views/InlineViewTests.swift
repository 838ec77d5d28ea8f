import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// An inline job has everything that the views under its own add, wherever its submitter is (laws 6
/// and 8).
@Suite(.patient)
struct InlineViewTests {
    /// What a random stack of views adds, and whether a job has it.
    final class Stack: Sendable {
        let section = CriticalSection()
        let local = ThreadLocalValue<Int>()
        let token = InvalidationToken()
        let decorated = Box(0)
    }

    /// One layer of a stack.
    enum Layer: CaseIterable {
        case section, local, token, decorated, observed, named, propagating, bounded, inline

        func put(_ stack: Stack, on base: some ExecutionContext) -> any ExecutionContext {
            switch self {
            case .section: base.exclusive(stack.section)
            case .local: base.binding(stack.local, to: 41)
            case .token: base.valid(while: stack.token)
            case .decorated: Adding(base: base, count: stack.decorated)
            case .observed: base.observed(by: Silent())
            case .named: base.named("name")
            case .propagating: base.propagating(TaskLocals.$number)
            case .bounded: base.bounded(to: 100, overflow: .refuse)
            case .inline: base.inlineIfCurrent()
            }
        }
    }

    private enum TaskLocals { @TaskLocal static var number = 0 }

    private struct Silent: ContextObserver {
        func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
    }

    private struct Adding<Base: ExecutionContext>: ContextDecorator {
        let base: Base
        let count: Box<Int>
        func decorate(_ work: @escaping Work) -> Work {
            count.withValue { $0 += 1 }
            return work
        }
    }

    /// How a job is submitted.
    enum Way: CaseIterable { case execute, refused, tryExecute }

    @Test func `Law 6: a holder of main on another thread runs no job of the main actor inline`()
        async
    {
        let ran = Box(false)
        await watched {
            let hold = MainContext().hold()
            MainContext().inlineIfCurrent().execute {
                MainActor.preconditionIsolated()
                ran.value = true
            }
            #expect(!ran.value)
            hold.release()
            waitUntil { ran.value }
        }
    }

    @Test(arguments: seeds(debug: 200, release: 1_000))
    func `Laws 6, 8: an inline job has what each view adds to it`(_ seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let stack = Stack()
        let base: any ExecutionContext =
            rng.next(below: 2) == 0 ? ManualContext() : ImmediateContext()
        var context = base
        let layers = (0...rng.next(below: 5)).map { _ in
            Layer.allCases[rng.next(below: Layer.allCases.count)]
        }
        for layer in layers { context = layer.put(stack, on: context) }
        let view: any ExecutionContext = context.with(.inlineIfCurrent)
        let way = Way.allCases[rng.next(below: Way.allCases.count)]
        let isValid = rng.next(below: 3) > 0
        let (ran, refused) = (Box(0), Box(0))
        let job: Work = {
            ran.withValue { $0 += 1 }
            #expect(!layers.contains(.section) || stack.section.isCurrent == true, "\(layers)")
            #expect(!layers.contains(.local) || stack.local.cachedValue() == 41, "\(layers)")
            let adding = layers.filter { $0 == .decorated }.count
            #expect(stack.decorated.value == adding, "\(layers)")
        }
        // Submitted from a job of the base, which no view knows.
        base.execute { [view = view] in
            if !isValid { stack.token.invalidate() }
            switch (way, view as? any RefusingContext) {
            case (.refused, _): view.execute(job, refused: { _ in refused.withValue { $0 += 1 } })
            case (.tryExecute, let view?):
                do { try view.tryExecute(job) } catch { refused.withValue { $0 += 1 } }
            default: view.execute(job)
            }
        }
        (base as? ManualContext)?.runReady()
        let mustSkip = !isValid && layers.contains(.token)
        #expect(ran.value == (mustSkip ? 0 : 1), "\(layers) \(way)")
        if mustSkip, way == .refused { #expect(refused.value == 1, "\(layers) \(way)") }
    }

    @Test
    func `Laws 16, 31: an inline job from inside the base's own job runs in the view's section`() {
        let base = SerialQueueContext(name: "base")
        let section = CriticalSection()
        let inside = Box<[Bool?]>([])
        let view = base.exclusive(section).inlineIfCurrent()
        base.sync { view.execute { inside.withValue { $0.append(section.isCurrent) } } }
        base.sync {}
        #expect(inside.value == [true])
    }
}
