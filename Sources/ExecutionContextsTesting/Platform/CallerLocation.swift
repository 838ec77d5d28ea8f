internal import CSimulation
internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// The place in the program's source that called the library.
///
/// The call stack is recorded at once, and looked up in the program's debug information when the
/// location is shown. In a release build, where functions are merged into others, there is none.
struct CallerLocation: Sendable {
    /// Addresses in the functions on the stack, the innermost first.
    private let callers: [UInt]

    /// How many functions of the library may lie between the program and the simulation.
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

    /// Earlier look-ups, with nil for code that is not the program's: reading a program's tables
    /// takes milliseconds.
    private static let known = Locked<[UInt: String?]>([:])

    private static func line(of address: UInt) -> String? {
        if let known = known.withLock({ $0[address] }) { return known }
        let line = lookUp(address)
        known.withLock { $0[address] = .some(line) }
        return line
    }

    private static func lookUp(_ address: UInt) -> String? {
        // The compiler generates the accessor of a wrapped property: use its caller instead.
        guard let function = CodeLocations.ofProgram(address), !function.isAccessor else {
            return nil
        }
        return CodeSymbols.line(at: address)
    }
}
