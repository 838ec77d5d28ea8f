internal import CDiagnostics
internal import ExecutionContexts

/// Looks up addresses of code in the program's symbols and debug information.
///
/// The first look-up of an address takes milliseconds; the result is cached.
package enum CodeSymbols {
    private static let functions = Guarded<[UInt: FunctionName?]>([:])
    private static let declarations = Guarded<[UInt: String?]>([:])

    /// The function that an address belongs to; nil if it is not a Swift function, or is a thunk.
    package static func function(at address: UInt) -> FunctionName? {
        if let known = functions.withUnscheduledLock({ $0[address] }) { return known }
        let function = unsafe withText { text, size in
            unsafe ecd_function(address, text, size) ? FunctionName(String(cString: text)) : nil
        }
        functions.withUnscheduledLock { $0[address] = .some(function) }
        return function
    }

    /// The global or static variable that an address belongs to. The caller caches it.
    package static func variable(at address: UInt) -> String? {
        unsafe withText { text, size in
            unsafe ecd_variable(address, text, size)
                ? FunctionName(String(cString: text))?.text : nil
        }
    }

    /// The file and the line at which the function at an address begins, as "Store.swift:14".
    ///
    /// Nil without debug information, and on Apple's systems, where a program's file has none.
    package static func declaration(at address: UInt) -> String? {
        if let known = declarations.withUnscheduledLock({ $0[address] }) { return known }
        let declaration = unsafe withText { text, size in
            let line = unsafe ecd_declaration(address, text, size)
            return unsafe SourceLine(String(cString: text), line)?.name
        }
        declarations.withUnscheduledLock { $0[address] = .some(declaration) }
        return declaration
    }

    /// Whether an address is in code of the compiler that looks up the metadata of a type. The
    /// caller caches it.
    package static func findsMetadata(at address: UInt) -> Bool {
        ecd_is_made_by_compiler(address)
    }

    /// The innermost line at an address; nil if it is unknown. The caller caches it.
    package static func line(at address: UInt) -> SourceLine? {
        unsafe withText { text, size in
            let line = unsafe ecd_line(address, text, size)
            return unsafe SourceLine(String(cString: text), line)
        }
    }

    private static func withText<Result>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { text in
            unsafe body(text.baseAddress.unsafelyUnwrapped, text.count)
        }
    }
}

/// The name of a function for a reader: "closure #1 in Store.load".
package struct FunctionName: Sendable {
    package let text: String
    /// Whether it is a function of the toolchain or of this library.
    package let isOfLibrary: Bool
    /// Whether it is a function of this library.
    package let isOfPackage: Bool
    /// Whether it is an accessor that changes a property.
    package let isAccessor: Bool

    private static let package: Set<String> = [
        "ExecutionContexts", "ExecutionContextsTesting", "ExecutionContextsWork",
        "ExecutionContextsObservation", "ExecutionContextsDiagnostics", "AsyncFunctions",
        "ExecutionContextsSearch",
    ]
    /// Those of the toolchain's modules whose functions may be part of the program.
    private static let toolchain: Set<String> = [
        "Swift", "_Concurrency", "Synchronization", "Foundation", "FoundationEssentials",
    ]

    /// Whether a module is one of this library.
    package static func isOfPackage(module: some StringProtocol) -> Bool {
        package.contains(String(module))
    }

    /// The name without module, types and labels; nil for a thunk, which the compiler adds.
    package init?(_ demangled: String) {
        guard !demangled.contains("thunk") else { return nil }
        isAccessor = demangled.contains(".modify : ") || demangled.contains(".setter : ")
        // "... for" and "generic specialization <...> of" precede the name.
        var name = demangled[...]
        if !name.hasPrefix("generic "), let end = name.ranges(of: " for ").last?.upperBound {
            name = name[end...]
        }
        if name.hasPrefix("generic "), let end = name.ranges(of: "> of ").last?.upperBound {
            name = name[end...]
        }
        let parts = Self.split(name)
            .filter { !$0.hasPrefix("implicit closure #") }.map(Self.plain)
        guard let last = parts.last, !last.isEmpty else { return nil }
        let module = last.prefix { $0 != "." }
        let own = module.count < last.count ? last.dropFirst(module.count + 1) : last[...]
        text = (parts.dropLast() + [String(own)]).joined(separator: " in ")
        isOfPackage = Self.isOfPackage(module: module)
        isOfLibrary = isOfPackage || Self.toolchain.contains(String(module))
    }

    /// The parts between " in ", outside of parentheses.
    private static func split(_ name: Substring) -> [Substring] {
        var (parts, rest, depth, isQuoted) = ([Substring](), name, 0, false)
        var index = rest.startIndex
        while index < rest.endIndex {
            switch rest[index] {
            case "`": isQuoted.toggle()
            case "(", "<": depth += 1
            case ")": depth -= 1
            case ">" where !rest[..<index].hasSuffix("-"): depth -= 1
            case " " where depth == 0 && !isQuoted && rest[index...].hasPrefix(" in "):
                parts.append(rest[..<index])
                rest = rest[index...].dropFirst(4)
                index = rest.startIndex
                continue
            default: break
            }
            index = rest.index(after: index)
        }
        return parts + [rest]
    }

    /// One part without its types: a closure with its number, or the path of a function.
    private static func plain(_ part: Substring) -> String {
        if part.hasPrefix("closure #") {
            return part.split(separator: " ").prefix(2).joined(separator: " ")
        }
        var path = part
        for prefix in ["variable initialization expression of ", "static "]
        where path.hasPrefix(prefix) { path = path.dropFirst(prefix.count) }
        path = Substring(withoutContexts(path))
        var isQuoted = false
        let end = path.firstIndex { character in
            if character == "`" { isQuoted.toggle() }
            return !isQuoted && "(< ".contains(character)
        }
        let name = path[..<(end ?? path.endIndex)]
        return String(name.hasSuffix(".getter") ? name.dropLast(7) : name)
    }

    /// A path without the extension that it is declared in, and without the file of a private name:
    /// "(extension in Main):Store.(load in _5F1E)" is "Store.load".
    private static func withoutContexts(_ path: Substring) -> String {
        var (plain, rest) = ("", path)
        // The innermost parentheses first: a parameter's type may be private as well.
        while let close = rest.firstIndex(of: ")"), let open = rest[..<close].lastIndex(of: "(") {
            let after = rest.index(after: close)
            guard let middle = rest[open..<close].firstRange(of: " in ") else {
                plain += rest[..<after]
                rest = rest[after...]
                continue
            }
            plain += rest[..<open]
            let name = rest[rest.index(after: open)..<middle.lowerBound]
            rest = rest[after...]
            if name == "extension" { rest = rest.drop { $0 == ":" } } else { plain += name }
        }
        return plain + rest
    }
}
