internal import ExecutionContexts
internal import Synchronization

/// The contexts that the functions use for one task, in place of their own.
final class Substitutes: Sendable {
    @TaskLocal static var inForce: Substitutes?

    /// Whether any were ever made. It changes no answer: it spares programs that make none a look, which takes 20 ns.
    private static let exist = Atomic<Bool>(false)

    /// Those in force for the caller.
    static var current: Substitutes? {
        // Relaxed: who has some in force was handed them, directly or with work, by who had stored this before.
        exist.load(ordering: .relaxed) ? inForce : nil
    }

    let background: any BarrierContext
    let main: any SerialContext

    /// What is not replaced stays as it is for the caller.
    init(background: (any BarrierContext)?, main: (any SerialContext)?) {
        let outer = Self.current
        self.background = background ?? outer?.background ?? shared
        self.main = main ?? outer?.main ?? MainContext()
        Self.exist.store(true, ordering: .relaxed)  // As above.
    }

    /// The work, with these substitutes in force when it runs: a queue's thread has no values of the submitter's task.
    func bound(_ work: @escaping Work) -> Work {
        { Self.$inForce.withValue(self) { work() } }
    }

    /// The same for a closure of the main actor, which does not run anywhere else.
    func bound(toMainActor work: @escaping @MainActor @Sendable () -> Void) -> Work {
        bound { [main] in
            // A "not known" is no yes. It comes from under a `sync` of another queue, but also from any other thread, and
            // there the runtime's own check would stop the program without a word of what to do.
            require(
                MainContext().isCurrent == true,
                "'\(main.name)', which stands in for main, ran a closure given to mainThread off the main actor "
                    + "(law 4). Run its work on the main actor: mark the test that drives it @MainActor.")
            MainActor.assumeIsolated(work)
        }
    }

    /// Runs a closure that was given to the real main queue with nothing substituted.
    ///
    /// A test that runs the main run loop inside its own substitution must not pass it on to other people's work.
    static func withoutAny(_ work: @MainActor () -> Void) {
        MainActor.assumeIsolated {
            if current == nil { work() } else { $inForce.withValue(nil, operation: work) }
        }
    }
}
