internal import CSimulation

/// Why no search can see what tasks do in this process; nil if searches can.
package var obstacleToSearches: String? { ProcessExecutors.obstacle }

/// Lends a search a program that its caller may not keep.
///
/// A schedule that fails may leave tasks behind that are suspended in the program for ever. Each
/// refers to the closure, which must have no other reference when it goes back: so those of the
/// tasks are given up here. They never run again, and so never release it: what would resume them
/// is refused (law 33).
package func lending<Result: Sendable>(
    _ program: @Sendable () async throws -> Void,
    to search: (@escaping @Sendable () async throws -> Void) async -> Result
) async -> Result {
    await withoutActuallyEscaping(program) { program in
        let loan = Loan(program: program)
        let result = await search { try await loan.program() }
        loan.end()
        return result
    }
}

/// A program on loan.
@safe private final class Loan: @unchecked Sendable {
    // Unchecked: it changes once the search has ended, and then no thread reads it.
    private struct Storage {
        var program: @Sendable () async throws -> Void
    }

    private var storage: Storage?

    init(program: @escaping @Sendable () async throws -> Void) {
        storage = Storage(program: program)
    }

    var program: @Sendable () async throws -> Void { storage!.program }

    func end() {
        // A closure is two words, of which the second refers to what it has captured.
        let words = unsafe unsafeBitCast(storage!, to: (UInt, UnsafeMutableRawPointer?).self)
        storage = nil
        if let captures = unsafe words.1 { unsafe ecs_release_all_but_one(captures) }
    }
}
