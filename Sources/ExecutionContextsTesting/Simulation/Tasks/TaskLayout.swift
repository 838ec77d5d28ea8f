internal import CSimulation

/// Tests the runtime's layout of tasks and actors with sample tasks and a sample actor.
///
/// The simulation reads words of the runtime's tasks, and writes two of them. Where a runtime has
/// something else in these words, the simulation refuses to begin.
enum TaskLayout {
    /// Makes a task that waits for an `async let` that throws, yields once, and ends; returns it
    /// retained.
    static let makeTask: @convention(c) () -> UnsafeMutableRawPointer = {
        let task = Task.detached {
            async let child: Void = fail()
            try? await child
            await Task.yield()
        }
        return unsafe retained(task)
    }

    /// Whether the runtime's layout of tasks and actors is the one that the simulation uses.
    static func isKnown(
        by make: @convention(c) () -> UnsafeMutableRawPointer = unsafe makeTask
    ) -> Bool {
        let actor = Idle()
        return withExtendedLifetime(actor) {
            unsafe ecs_knows_tasks(
                // The test ends before the call returns, and with it the use of the actor.
                make, Unmanaged.passUnretained(actor).toOpaque(),
                // A type is a pointer to what the runtime knows of it.
                unsafeBitCast(Failure.self, to: UnsafeRawPointer.self))
        }
    }

    static func retained(_ task: Task<Void, Never>) -> UnsafeMutableRawPointer {
        // A task is one reference, which `task` holds until the retain has added another one.
        let pointer = unsafe unsafeBitCast(task, to: UnsafeMutableRawPointer.self)
        unsafe ecs_retain(pointer)
        return unsafe pointer
    }

    private actor Idle {}
    private struct Failure: Error {}
    private static func fail() throws { throw Failure() }
}
