import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Views over views over hostile bases, drawn from a seed, checked against the laws of once, order,
/// exclusion and lifetimes.
@Suite(.serialized, .patient)
struct CompositionTests {
    @Test(arguments: seeds(debug: 60, release: 400))
    func `Laws 1, 2, 3, 10: every composition of views keeps the laws`(_ seed: UInt64) async {
        await watched {
            var rng = SeededRNG(seed: seed)
            let composition = Composition(&rng)
            let play = Play(composition)
            onThreads(3) { thread in
                var rng = SeededRNG(seed: seed &* 31 &+ UInt64(thread))
                for index in 0..<60 { play.act(thread, index, &rng) }
            }
            play.finish()
            #expect(play.faults.isEmpty, "\(composition.name): \(play.faults.prefix(3))")
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: 0..<8)
    func `Law 27: through any layers, a sync from inside the base's own job traps with a message`(
        _ seed: Int
    ) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            [seed] in
            var rng = SeededRNG(seed: UInt64(seed))
            let bases: [any ExecutionContext] = [
                SerialQueueContext(name: "base"), ThreadContext(name: "base"),
                RunLoopThreadContext(name: "base"), GlobalContext().limited(to: 1),
                SerialQueueContext(name: "base").serial(),
                ActorContext(Host()),
            ]
            let base = bases[rng.next(below: bases.count)]
            var context = base
            // All layers but the one that runs jobs inline.
            let layers = Layer.allCases.filter { $0 != .inlineIfCurrent }
            for _ in 0..<rng.next(below: 4) {
                context = layers[rng.next(below: layers.count)].apply(to: context)
            }
            let view = context.serial()
            base.execute { view.sync {} }
            await withCheckedContinuation { continuation in
                Forever.kept.withValue { $0.append(continuation) }
            }
        }
        try expectTrap(result, "law 27", "never end")
    }
    #endif
}

/// Keeps continuations that are never resumed.
private enum Forever { static let kept = Box<[CheckedContinuation<Void, Never>]>([]) }

/// The layers that may lie between a context and its base.
enum Layer: CaseIterable {
    case serial, limited, barrier, named, observed, propagating, inlineIfCurrent, bounded,
        exclusive, valid,
        watched, intercepted

    func apply(to base: any ExecutionContext) -> any ExecutionContext {
        if let base = base as? any SerialContext { return apply(toSerial: base) }
        return switch self {
        case .serial: base.serial()
        case .limited: base.limited(to: 2)
        case .barrier: base.barrier()
        case .named: base.with(.named("named"))
        case .observed: base.with(.observed(by: NoObserver()))
        case .propagating: base.with(.propagating(Decorator.$local))
        case .inlineIfCurrent: base.with(.inlineIfCurrent)
        case .bounded: base.bounded(to: 100_000, overflow: .refuse)
        case .exclusive: base.with(.exclusive(CriticalSection()))
        case .valid: base.valid(while: InvalidationToken())
        case .watched: base.with(Watching(limit: .seconds(600)) { _ in })
        case .intercepted: base.with(Interception(Layer.moody))
        }
    }

    private func apply(toSerial base: some SerialContext) -> any ExecutionContext {
        switch self {
        case .serial: base.serial()
        case .limited: base.limited(to: 1)
        case .barrier: base.barrier()
        case .named: base.named("named")
        case .observed: base.observed(by: NoObserver())
        case .propagating: base.propagating(Decorator.$local)
        case .inlineIfCurrent: base.inlineIfCurrent()
        case .bounded: base.bounded(to: 100_000, overflow: .refuse)
        case .exclusive: base.exclusive(CriticalSection())
        case .valid: base.valid(while: InvalidationToken())
        case .watched: base.watched(limit: .seconds(600)) { _ in }
        case .intercepted: base.intercepted(by: Layer.moody)
        }
    }
}

extension Layer {
    /// An interceptor that calls a job once, twice or not at all.
    static func moody(_ job: () -> Void) {
        for _ in 0..<Int.random(in: 0...2) { job() }
    }
}

/// Random layers over a base, which may be hostile.
struct Composition: Sendable {
    let name: String
    let context: any ExecutionContext
    let manual: ManualContext?
    /// Whether the base drops jobs.
    let dropsJobs: Bool

    init(_ rng: inout SeededRNG) {
        let manual = ManualContext()
        let bases: [(String, any ExecutionContext)] = [
            ("inline", HostileBase(.inline, seed: UInt64(rng.next(below: 1000)))),
            ("moody", HostileBase(.moody, seed: UInt64(rng.next(below: 1000)))),
            ("delaying", HostileBase(.delaying, seed: UInt64(rng.next(below: 1000)))),
            ("dropping", HostileBase(.dropping, seed: UInt64(rng.next(below: 1000)))),
            ("queue", SerialQueueContext(name: "base")),
            ("barrier queue", BarrierQueueContext(name: "base")),
            ("thread", ThreadContext(name: "base")), ("global", GlobalContext()),
            ("run loop", RunLoopThreadContext(name: "base")),
            ("narrow pool", WorkerPool(width: 1)), ("one thread", BlockingContext(limit: 1)),
            ("actor", ActorContext(Host())), ("manual", manual),
        ]
        let base = bases[rng.next(below: bases.count)]
        self.manual = base.0 == "manual" ? manual : nil
        dropsJobs = base.0 == "dropping"
        var (name, context) = base
        for _ in 0..<(1 + rng.next(below: 4)) {
            let layer = Layer.allCases[rng.next(below: Layer.allCases.count)]
            context = layer.apply(to: context)
            name += ", \(layer)"
        }
        (self.name, self.context) = (name, context)
    }
}

/// A user's own base without order. It runs a job inline, elsewhere, later, or not at all.
final class HostileBase: ExecutionContext {
    enum Manner: Sendable { case inline, moody, delaying, dropping }

    private let manner: Manner
    private let rng: Box<SeededRNG>

    init(_ manner: Manner, seed: UInt64) {
        self.manner = manner
        rng = Box(SeededRNG(seed: seed))
    }

    func execute(_ work: @escaping Work) {
        let roll = rng.withValue { $0.next(below: 6) }
        switch manner {
        case .inline: work()
        case .moody where roll < 3: work()
        case .dropping where roll == 0: break
        default: enqueue(work)
        }
    }

    func enqueue(_ work: @escaping Work) {
        let roll = rng.withValue { $0.next(below: 6) }
        switch manner {
        case .delaying where roll < 3:
            GlobalContext().schedule(after: .microseconds(roll * 300), work)
        case .dropping where roll == 0: break
        default: DispatchQueue.global().async(execute: work)
        }
    }
}
