internal import CPlatform
internal import Synchronization

/// Where a job comes from: the label that its submission carries, and where it was written.
///
/// The address of its code identifies a job that is a closure of the user's. A closure that the
/// library puts around one must not stand for it. A job of the library that is an object anyway is
/// a `SourcedJob`, which an observed view queries. Any other closure is carried by one, at the cost
/// of an allocation, and only while an observed or a watched view exists. So a program without one
/// pays for a load and a branch.
@usableFromInline
package struct JobSource: Hashable, Sendable {
    package let place: CodePlace
    /// The label; of a drain, the name of its view.
    package let label: String?

    package static var unknown: JobSource { JobSource(.unknown) }

    package init(_ place: CodePlace, label: String? = nil) {
        self.place = place
        self.label = label
    }

    @usableFromInline
    package init(_ fileID: StaticString, _ line: UInt) { self.init(CodePlace(fileID, line)) }

    static func drain(of name: String) -> JobSource { JobSource(.drain, label: name) }

    /// The source of a job that its owner keeps.
    package init(of work: UnmanagedWork) {
        self = SourcedJob.source(of: work) ?? JobSource(CodePlace(code: work.words.first))
    }

    /// The same source with a label, unless it has one: the label nearest to the submission counts.
    package func labeled(_ label: String) -> JobSource {
        self.label == nil ? JobSource(place, label: label) : self
    }

    /// The label; of a drain, what it is.
    package var shownLabel: String? {
        place == .drain ? label.map { "drain of '\($0)'" } : label
    }

    private static let readers = Atomic<Int>(0)

    /// Whether something reads the sources of jobs. Relaxed: a view that reads them was passed to
    /// its submitters by means that order its creation before.
    static var isRead: Bool { readers.load(ordering: .relaxed) != 0 }

    package static func addReader() { readers.add(1, ordering: .relaxed) }
    package static func removeReader() { readers.subtract(1, ordering: .relaxed) }

    /// Returns `work` with this source, for a context; `work` itself while nothing reads sources.
    @inline(__always)
    package static func carry(
        _ source: @autoclosure () -> JobSource, _ work: consuming @escaping Work
    ) -> Work {
        isRead ? source().carried(work) : work
    }

    // Not inlined, so that the path without readers stays small.
    @inline(never)
    private func carried(_ work: consuming @escaping Work) -> Work {
        SourcedJob.work(CarriedWork(consume work, self))
    }

    /// The same for code that is inlined into the user's.
    @usableFromInline
    static func carry(
        _ fileID: StaticString, _ line: UInt, _ work: consuming @escaping Work
    ) -> Work {
        carry(JobSource(fileID, line), consume work)
    }

    /// Returns `work` with a label, unless it has one.
    static func label(_ label: String, _ work: @escaping Work) -> Work {
        isRead ? JobSource(of: work).labeled(label).carried(work) : work
    }

    /// The source of a job that the caller keeps.
    package init(of work: @escaping Work) {
        let words = UnmanagedWork(work)
        self.init(of: words)
        _ = words.assembled()
    }

    /// Returns what `change` makes of `work`, with the source of `work`.
    @inline(__always)
    static func keep(
        of work: consuming @escaping Work, in change: (@escaping Work) -> Work
    ) -> UnmanagedWork {
        guard isRead else { return UnmanagedWork(change(work)) }
        return kept(of: consume work, in: change)
    }

    @inline(never)
    private static func kept(
        of work: consuming @escaping Work, in change: (@escaping Work) -> Work
    ) -> UnmanagedWork {
        let original = UnmanagedWork(consume work)
        let source = JobSource(of: original)
        let changed = UnmanagedWork(change(original.assembled()))
        let isSame =
            changed.words.first == original.words.first
            && changed.words.second == original.words.second
        if isSame || SourcedJob.source(of: changed) != nil { return changed }
        return UnmanagedWork(source.carried(changed.assembled()))
    }
}

/// A job of the library's own that has a source.
///
/// The closure of every such job has the same code, by which it is recognized, and captures the job
/// alone. A closure that captures one object only has that object as its second word.
///
/// No other closure has this code. The compiler merges no functions whose addresses escape, and a
/// linker that folds equal code (`--icf=all`) finds no other code that refers to the mark.
package class SourcedJob: @unchecked Sendable {
    // Unchecked because it can be inherited from.
    package init() {}

    package var source: JobSource { fatalError("A subclass of SourcedJob overrides source.") }

    package func run() { fatalError("A subclass of SourcedJob overrides run().") }

    /// The closure of a job. Never inlined: there must be one code only.
    @inline(never)
    package static func work(_ job: consuming SourcedJob) -> Work {
        { [job] in
            ec_mark_known_code()
            job.run()
        }
    }

    /// The source of such a job; nil if the closure is another one.
    static func source(of work: UnmanagedWork) -> JobSource? {
        guard work.words.first == code,
            let object = unsafe UnsafeRawPointer(bitPattern: work.words.second)
        else { return nil }
        // The closure keeps the job, and its owner the closure.
        return unsafe Unmanaged<SourcedJob>.fromOpaque(object)._withUnsafeGuaranteedRef(\.source)
    }

    /// The code of the closures; zero, which no closure has, if the compiler makes closures of
    /// another form.
    static let code: UInt = {
        let probe = CarriedWork({}, .unknown)
        let closure = UnmanagedWork(work(probe))
        let words = closure.words
        _ = closure.assembled()
        let object = unsafe UInt(bitPattern: Unmanaged.passUnretained(probe).toOpaque())
        return words.second == object ? words.first : 0
    }()
}

/// A closure that a context is given with its source.
private final class CarriedWork: SourcedJob, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants.
    private let work: Work
    private let carried: JobSource

    init(_ work: consuming @escaping Work, _ source: JobSource) {
        self.work = consume work
        carried = source
    }

    override package var source: JobSource { carried }

    override package func run() { work() }
}

// Swift passes a closure as two words, and does not say what they are.
@_silgen_name("ec_code_of")
private func codeOf<Value, Failure: Error>(_ body: () throws(Failure) -> Value) -> UInt

// The body of a `sync` does not escape, and its caller waits. So its source is on the stack of the
// caller, and a word of the thread points there.
extension JobSource {
    /// Calls `sync` of `base`, whose body comes from here.
    ///
    /// Only a view that takes the source at once receives it: others may run other jobs first.
    package func passing<Result, Problem: Error>(
        to base: some ExecutionContext, sync: () throws(Problem) -> Result
    ) throws(Problem) -> Result {
        guard base.facts.takesSource else { return try sync() }
        return try unsafe withUnsafePointer(to: self) { (source) throws(Problem) in
            unsafe ec_set_sync_source(source)
            defer { ec_set_sync_source(nil) }
            return try sync()
        }
    }

    /// The source of a body that the caller is to run: what a view above has set, or its code.
    package static func takeOfSync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) -> JobSource {
        guard let known = unsafe ec_sync_source() else {
            return JobSource(CodePlace(code: codeOf(body)))
        }
        ec_set_sync_source(nil)
        // Of a caller that waits on this thread's stack.
        return unsafe known.assumingMemoryBound(to: JobSource.self).pointee
    }
}
