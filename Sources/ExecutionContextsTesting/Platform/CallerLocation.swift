internal import CSimulation
internal import ExecutionContexts
internal import ExecutionContextsDiagnostics
internal import Foundation

/// The place in the program's source that called the library.
///
/// The call stack is recorded at once, and looked up in the program's debug information when the
/// location is shown. In a release build, where functions are merged into others, there is none.
struct CallerLocation: Sendable {
    /// Addresses in the functions on the stack, the innermost first.
    private let callers: [UInt]
    /// Whether the code is suspended.
    private let isSuspended: Bool

    /// How many functions of the library may lie between the program and the simulation.
    private static let mostCallers = 48

    /// The location of the caller.
    init() {
        isSuspended = false
        guard Self.isDebug else {
            callers = []
            return
        }
        callers = unsafe [UInt](unsafeUninitializedCapacity: Self.mostCallers) { buffer, count in
            count = unsafe ecs_callers(buffer.baseAddress!, buffer.count)
        }
    }

    /// The location of the code at an address.
    init(of address: UInt) { (callers, isSuspended) = ([address], false) }

    private static var isDebug: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// A location of code that is suspended: addresses at which its functions continue, the
    /// innermost first.
    init(at resumptions: [UInt]) {
        (callers, isSuspended) = (Self.isDebug ? resumptions : [], true)
    }

    /// The innermost line of the program: "Store.swift:14". Nil if it has no debug information.
    var line: String? { source?.name }

    /// The name of the variable that an `async let` of that line declares. Nil if the line declares
    /// several, or its file is not at hand as it was when the program was built.
    var asyncLet: String? {
        guard let code = source.flatMap(Self.code) else { return nil }
        let name = code.prefixMatch(of: #/async let ([a-zA-Z]\w*)/#)?.1
        return code.ranges(of: "async let").count == 1 ? name.map(String.init) : nil
    }

    /// What follows the text of an event: the code of that line, if it is known.
    var place: String? {
        guard let code = source.flatMap(Self.code) else { return nil }
        guard code.contains(where: \.isLetter) else {
            return code.hasPrefix("}") ? " where a scope ends" : nil
        }
        return " at `\(code.count <= 60 ? code : code.prefix(57) + "...")`"
    }

    /// The text of a line, if its file is at hand as it was when the program was built.
    private static func code(of source: SourceLine) -> String? {
        guard isAsBuilt(source.path) else { return nil }
        let lines = Self.files.withLock { files in
            if let lines = files[source.path] { return lines }
            let text = try? String(contentsOfFile: source.path, encoding: .utf8)
            let lines = (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            files[source.path] = lines
            return lines
        }
        guard source.number <= lines.count else { return nil }
        return lines[Int(source.number) - 1].trimmingCharacters(in: .whitespaces)
    }

    /// The lines of files that were read before.
    private static let files = Locked<[String: [Substring]]>([:])

    private static func isAsBuilt(_ path: String) -> Bool {
        func changed(_ path: String) -> Date? {
            try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        }
        guard let source = changed(path), let program = changed(CommandLine.arguments[0]) else {
            return false
        }
        return source <= program
    }

    private var source: SourceLine? {
        let lines = callers.lazy.compactMap(Self.line)
        guard isSuspended else { return lines.first }
        // Of a function that only waits, in one line, the call says more.
        return lines.first { line in
            let code = Self.code(of: line) ?? ""
            return !code.hasSuffix("}") || code.prefixMatch(of: #/(\w+ )*func /#) == nil
        } ?? lines.first
    }

    /// Earlier look-ups, with nil for code that is not the program's: reading a program's tables
    /// takes milliseconds.
    private static let known = Locked<[UInt: SourceLine?]>([:])

    private static func line(of address: UInt) -> SourceLine? {
        if let known = known.withLock({ $0[address] }) { return known }
        let line = lookUp(address)
        known.withLock { $0[address] = .some(line) }
        return line
    }

    private static func lookUp(_ address: UInt) -> SourceLine? {
        // The compiler generates the accessor of a wrapped property: use its caller instead.
        guard let function = CodeLocations.ofProgram(address), !function.isAccessor else {
            return nil
        }
        return CodeSymbols.line(at: address)
    }
}
