extension Async {
    /// Returns a future that begins with its first interested subscriber: then `body` is called on
    /// `context`, once.
    ///
    /// ```swift
    /// let names = Async.lazy { database.submit { try store.fetch(query) } }
    /// names.onSuccess(on: .main) { print($0) }
    /// ```
    ///
    /// It completes like the future that `body` returns. A callback, a derived `Async`, and a task
    /// or thread that waits is an interested subscriber; a `tap` is none. If it is cancelled before
    /// it begins, it never does, and what `body` captured is freed at once (law 26).
    @_disfavoredOverload
    public static func lazy(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Async
    ) -> Async {
        let lazy = Lazy(on: context) { lazy in
            lazy.hop(to: context, from: (fileID, line)) {
                do { lazy.follow(try body()) } catch { lazy.complete(throwing: error) }
            }
        }
        return Async(state: lazy)
    }
}

/// The future state of a lazy `Async`.
private final class Lazy: Timed, @unchecked Sendable {
    // Unchecked: the start is taken out while the state is locked and pending; afterwards the
    // thread that completed it owns it.
    private var start: Start?

    /// Does not capture the state, which would keep itself if it never began.
    typealias Start = @Sendable (Lazy) -> Void

    init(on context: some ExecutionContext, _ start: @escaping Start) {
        self.start = start
        super.init("lazy", on: context)
        unsafe tag |= Self.beginsWithInterest
    }

    deinit { freeStart() }

    override func begin() {
        guard lockIfPending() else { return }
        let start = start.take()
        unlock()
        start?(self)
    }

    override func didComplete() {
        freeStart()
        super.didComplete()
    }

    /// The captures may be the last reference to the next lazy future, and so on.
    private func freeStart() {
        if start != nil { BoundedNesting.free(start.take()) }
    }
}
