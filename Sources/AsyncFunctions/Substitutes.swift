internal import ExecutionContexts
internal import Synchronization

/// The contexts that the functions use for one task, instead of their own.
final class Substitutes: Sendable {
    @TaskLocal static var inForce: Substitutes?

    /// Whether substitutes were ever made. A fast path: programs that make none skip the
    /// task-local, which takes 10 ns.
    private static let exist = Atomic<Bool>(false)

    /// The substitutes in force for the caller.
    static var current: Substitutes? {
        // Relaxed: a caller with substitutes in force received them, directly or with work, from a
        // thread that had stored true before.
        exist.load(ordering: .relaxed) ? inForce : nil
    }

    let background: any BarrierContext
    let main: any SerialContext

    /// A nil context keeps the one in force for the caller.
    init(background: (any BarrierContext)?, main: (any SerialContext)?) {
        let outer = Self.current
        self.background = background ?? outer?.background ?? shared
        self.main = main ?? outer?.main ?? MainContext()
        Self.exist.store(true, ordering: .relaxed)  // As above.
    }

    /// Runs `work` with these substitutes in force: a queue's thread has no task-local values of
    /// the submitter.
    func bound(_ work: @escaping Work) -> Work {
        { Self.$inForce.withValue(self) { work() } }
    }

    /// The same for a closure of the main actor, which runs nowhere else.
    func bound(toMainActor work: @escaping @MainActor @Sendable () -> Void) -> Work {
        bound { [main] in
            // Nil ("not known") does not pass. It is the answer under a `sync` of another queue,
            // but also on any other thread, where the runtime's own check would trap without a
            // remedy.
            require(
                MainContext().isCurrent == true,
                "'\(main.name)', which replaces main, ran a closure of mainThread off the main actor "
                    + "(law 4). Run its work on the main actor: mark the test that drives it @MainActor."
            )
            MainActor.assumeIsolated(work)
        }
    }

    /// Runs a closure that was submitted to the real main queue with no substitutes in force.
    ///
    /// A test that runs the main run loop inside its own substitution must not pass the substitutes
    /// on to unrelated work.
    static func withoutAny(_ work: @MainActor () -> Void) {
        MainActor.assumeIsolated {
            if current == nil { work() } else { $inForce.withValue(nil, operation: work) }
        }
    }
}
