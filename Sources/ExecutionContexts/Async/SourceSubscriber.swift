/// What learns how each of several sources ends: a combinator, or a traversal.
protocol SourceObserver: Sendable {
    func sourceCompleted(_ source: FutureState, at index: Int)

    /// Drops the subscriber of a source that is freed while pending: it and the observer must not
    /// keep each other.
    func forgetSource(at index: Int)

    var label: String { get }
}

/// The subscriber in the queue of one of several sources.
final class SourceSubscriber<Observer: SourceObserver>: FutureSubscriber, @unchecked Sendable {
    // Unchecked: only the weak reference changes, and the runtime does that.
    private let observer: Observer
    /// Weak, because the source's queue owns this.
    private(set) weak var source: FutureState?
    let index: Int

    init(of observer: Observer, in source: FutureState, at index: Int) {
        self.observer = observer
        self.source = source
        self.index = index
        super.init()
    }

    /// What the observer waits for, unless the source has been freed.
    var dependency: FutureState.Dependency? {
        source.map { FutureState.Dependency(subscriber: self, source: $0) }
    }

    override func notify(by source: FutureState) { observer.sourceCompleted(source, at: index) }

    override func sourceDeinitialized(_ source: UnsafeRawPointer) {
        observer.forgetSource(at: index)
    }

    override var label: String { observer.label }
}
