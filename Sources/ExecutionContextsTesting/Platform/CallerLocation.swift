internal import CSimulation
internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// Where in its source the program has called the library.
///
/// The calls are noted at once, and looked up in the program's debug information when the location
/// is told. In a release build, where functions are merged into others, there is none.
struct CallerLocation: Sendable {
    /// Addresses in the functions on the stack, the innermost first.
    private let callers: [UInt]

    /// How many functions of the library there may be between the program and the simulation.
    private static let mostCallers = 48

    /// The location of the caller.
    init() {
        #if DEBUG
        callers = unsafe [UInt](unsafeUninitializedCapacity: Self.mostCallers) { buffer, count in
            count = unsafe ecs_callers(buffer.baseAddress!, buffer.count)
        }
        #else
        callers = []
        #endif
    }

    /// The innermost line of the program: "Store.swift:14". Nil if it has no debug information.
    var line: String? { callers.lazy.compactMap(Self.line).first }

    /// What was looked up before, with nil for code that is none of the program's: reading a
    /// program's tables takes milliseconds.
    private static let known = Locked<[UInt: String?]>([:])

    private static func line(of address: UInt) -> String? {
        if let known = known.withLock({ $0[address] }) { return known }
        let line = lookUp(address)
        known.withLock { $0[address] = .some(line) }
        return line
    }

    private static func lookUp(_ address: UInt) -> String? {
        // The accessor of a property with a wrapper is the compiler's: its caller is meant.
        guard let function = CodeLocations.ofProgram(address), !function.isAccessor else {
            return nil
        }
        return CodeSymbols.line(at: address)
    }
}
