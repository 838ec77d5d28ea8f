internal import Dispatch

// The contexts, tasks and jobs of which the shipped coordinator makes use.

/// A context of which the coordinator asks what it needs for its writes.
public protocol ExecutionContext: Sendable {
    var name: String { get }
    var runsAnywhere: Bool { get }
    func execute(_ work: @escaping Work)
}

extension ExecutionContext {
    var isCurrent: Bool? { nil }
    func enqueue(_ work: @escaping Work) { execute(work) }
    func execute(_ work: @escaping Work, refused: (Never) -> Void) { execute(work) }
    func bound(_ work: consuming @escaping Work) -> Work { work }
}

/// No caller has a deadline here.
enum Deadline {
    static func without(_ body: () -> Void) { body() }
}

/// A context that gives each job a thread of its own.
public struct GlobalContext: ExecutionContext {
    public init() {}
    public var name: String { "global" }
    public var runsAnywhere: Bool { true }
    public func execute(_ work: @escaping Work) { World.current.spawn("job", work) }
}

/// The same, on whose jobs no waiting thread helps.
struct ForeignContext: ExecutionContext {
    var name: String { "foreign" }
    var runsAnywhere: Bool { false }
    func execute(_ work: @escaping Work) { World.current.spawn("job", work) }
}

/// A context that runs each job on its caller.
struct InlineContext: ExecutionContext {
    var name: String { "inline" }
    var runsAnywhere: Bool { false }
    func execute(_ work: @escaping Work) { work() }
}

/// Requests drains from the context, and continues one that has spent its budget.
class Drainer: @unchecked Sendable {
    // Unchecked, as the class that it stands for.
    init(over base: some ExecutionContext) {}
    func drain() {}
    func drainWasDropped() {}
    var drainedName: String { "" }
    final func requestDrain(on base: some ExecutionContext) { base.execute { self.drain() } }
    final func requestDrainLater(on base: some ExecutionContext) {
        base.execute { self.drain() }
    }
    final func runDrains(on base: some ExecutionContext, _ step: () -> Bool) {
        while !step() {}
    }
}

/// What a coordinator over a context needs; there is none here.
public protocol SynchronousBarrierContext: ExecutionContext {}

final class BarrierExclusion: ReadWriteExclusion {
    let name: String
    let context: any SynchronousBarrierContext
    let admission: Admission
    init(name: String, over context: some SynchronousBarrierContext) {
        (self.name, self.context) = (name, context)
        admission = Admission(isClosed: true, name: name)
    }
    var writeContext: any ExecutionContext { context }
    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> AccessEntry?
    { .byContext }
    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> AccessEntry? { .byContext }
    func admitNext(_ thread: ThreadRecord) {}
    func enqueueWrite(_ write: consuming @escaping Work, later: Bool) {}
    func enqueueRead(_ read: consuming @escaping Work) {}
    func hold() -> ExclusiveHold { .nothing }
    func foreseeWrite(_ forecast: inout WaitForecast) {}
    func run<Value, Failure: Error>(
        writes: Bool, until deadline: Int64, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? { nil }
}

/// Every wait here ends by the program itself.
struct WaitForecast {
    let isUnclear = false
    static func of(_ context: any ExecutionContext) -> WaitForecast { WaitForecast() }
    func followUnlessHelped(_ context: any ExecutionContext) {}
}

enum AwaitedEnd {
    static func result<Value, Failure: Error>(
        of body: () throws(Failure) -> Value, from context: any ExecutionContext,
        named name: String,
        _ submit: (@escaping Work) -> Void
    ) -> Value? { nil }
}

enum TimeLimit {
    /// Simulated threads wait for ever, or not at all.
    static func after(_ time: Duration) -> Int64 { time > .zero ? .max : .min }
}

/// The reserve thread comes at any time.
struct DispatchQueue {
    init(label: String) {}
    func asyncAfter(deadline: DispatchTime, execute work: @escaping Work) {
        World.current.spawn("job", work)
    }
}

// MARK: Owners of holds

enum Caller {
    static var task: UnsafeMutableRawPointer? {
        unsafe World.current.threads.task.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
    }
}

/// No thread runs a job that could be an owner.
enum Frame {
    static var job: UInt64? { nil }
    static func runs(_ job: UInt64) -> Bool { false }
    static func newJob() -> UInt64 { World.current.threads.nextNumber() }
}

func ec_retain(_ task: UnsafeMutableRawPointer) {}
func ec_release(_ task: UnsafeMutableRawPointer) {}

/// Dispatch can always begin.
enum DispatchStart {
    static func requireTimers() {}
}

/// The context of the writing side, which no program here uses.
public struct WritingContext: Sendable {
    init(_ coordinator: ReadWriteCoordinator) {}
}
