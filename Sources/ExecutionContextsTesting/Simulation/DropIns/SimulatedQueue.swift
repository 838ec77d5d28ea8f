public import Dispatch
internal import ExecutionContexts

/// A queue whose jobs run in a simulation.
///
/// It has the most common operations of `DispatchQueue`, whose jobs would leave the simulation. One
/// line makes a file use it:
///
/// ```swift
/// typealias DispatchQueue = SimulatedQueue
///
/// final class Counter: @unchecked Sendable {
///     private let queue = DispatchQueue(label: "counter", attributes: .concurrent)
///     @Shared private var count = 0
///
///     func add() { queue.async { self.count += 1 } }            // lacks flags: .barrier
///     var value: Int { queue.sync { count } }
/// }
/// ```
///
/// Made in a simulation it belongs to that schedule. Made elsewhere it is a `DispatchQueue`.
public final class SimulatedQueue: Sendable {
    /// The attributes of a queue.
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Jobs run side by side, except barriers.
        public static let concurrent = Attributes(rawValue: 1)
    }

    private enum Kind {
        case real(DispatchQueue)
        case simulated(SimulatedCore, any ExecutionContext)
    }

    /// The name of the queue.
    public let label: String
    private let kind: Kind

    /// Makes a queue, which is serial unless it is made concurrent.
    public init(label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = []) {
        self.label = label
        let isConcurrent = attributes.contains(.concurrent)
        if let scheduler = HostThread.current?.scheduler {
            if isConcurrent {
                let context = SimulatedBarrierContext(label, scheduler)
                kind = .simulated(context.core, context)
            } else {
                let context = SimulatedSerialContext(label, scheduler)
                kind = .simulated(context.core, context)
            }
        } else {
            kind = .real(
                DispatchQueue(label: label, qos: qos, attributes: isConcurrent ? .concurrent : []))
        }
    }

    private init(_ label: String, _ kind: Kind) { (self.label, self.kind) = (label, kind) }

    /// The concurrent queue that a schedule has from its beginning, with `.global`.
    public static func global(qos: DispatchQoS.QoSClass = .default) -> SimulatedQueue {
        guard let scheduler = HostThread.current?.scheduler else {
            let queue = DispatchQueue.global(qos: qos)
            return SimulatedQueue(queue.label, .real(queue))
        }
        let context = SimulatedGlobalContext(scheduler)
        return SimulatedQueue(context.name, .simulated(context.core, context))
    }

    /// Submits a job, and returns at once.
    public func async(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable () -> Void
    ) {
        switch kind {
        case .real(let queue): queue.async(qos: qos, flags: flags, execute: work)
        case .simulated(let core, _):
            core.execute(work, isBarrier: flags.contains(.barrier))
        }
    }

    /// Submits a job, and waits for its end. In a job of the same serial queue that is a deadlock,
    /// which a simulation reports.
    public func sync<Value>(
        flags: DispatchWorkItemFlags = [], execute work: () throws -> Value
    ) rethrows -> Value {
        switch kind {
        case .real(let queue): return try queue.sync(flags: flags, execute: work)
        case .simulated(let core, _):
            return try core.sync(isBarrier: flags.contains(.barrier), work)
        }
    }

    /// Submits a job when the deadline has passed, in simulated time. The remaining time is rounded
    /// to ten milliseconds, since Dispatch's clock is real.
    public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable () -> Void
    ) {
        switch kind {
        case .real(let queue):
            queue.asyncAfter(deadline: deadline, qos: qos, flags: flags, execute: work)
        case .simulated(let core, let context):
            guard let interval = simulatedInterval(until: deadline) else { return }
            let isBarrier = flags.contains(.barrier)
            context.schedule(after: .nanoseconds(interval)) {
                if isBarrier { core.execute(work, isBarrier: true) } else { work() }
            }
        }
    }
}
