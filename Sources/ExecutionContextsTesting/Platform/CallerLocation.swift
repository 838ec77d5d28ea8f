internal import CSimulation
internal import ExecutionContexts

/// Where in its source the program has called the library.
///
/// The calls are noted at once, and looked up in the program's debug information when the location
/// is told. In a release build, where functions are merged into others, there is none.
struct CallerLocation: Sendable, Equatable {
    /// Addresses in the functions on the stack, the innermost first.
    private let callers: [UInt]

    /// How many functions of the library there may be between the program and the simulation.
    private static let mostCallers = 48

    /// The location of the caller.
    init() {
        guard _isDebugAssertConfiguration() else {
            callers = []
            return
        }
        callers = unsafe [UInt](unsafeUninitializedCapacity: Self.mostCallers) { buffer, count in
            count = unsafe ecs_callers(buffer.baseAddress!, buffer.count)
        }
    }

    /// A function of the program, and the line: "Store.swift:14".
    struct Source: Sendable {
        let function: String
        /// Nil where the compiler gives none, as it does for the write of a `+=`.
        let line: String?
    }

    /// The innermost function of the program; nil if it has no debug information.
    var source: Source? { callers.lazy.compactMap(Self.source).first }

    /// The innermost line that is known.
    var line: String? { callers.lazy.compactMap { Self.source(of: $0)?.line }.first }

    /// What was looked up before, with nil for code that is none of the program's: reading a
    /// program's tables takes milliseconds.
    private static let known = Locked<[UInt: Source?]>([:])

    private static func source(of address: UInt) -> Source? {
        if let known = known.withLock({ $0[address] }) { return known }
        let source = lookUp(address)
        known.withLock { $0[address] = .some(source) }
        return source
    }

    private static func lookUp(_ address: UInt) -> Source? {
        guard let function = CodeLocations.ofProgram(address) else { return nil }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { buffer in
            let line = unsafe ecs_line(address, buffer.baseAddress!, buffer.count)
            let path = unsafe String(cString: buffer.baseAddress!)
            guard let file = path.split(separator: "/").last else { return nil }
            // The lines of an expanded macro are in no file.
            let isKnown = line > 0 && !file.hasPrefix("@")
            return Source(function: function, line: isKnown ? "\(file):\(line)" : nil)
        }
    }
}
