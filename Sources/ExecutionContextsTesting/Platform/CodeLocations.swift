internal import CSimulation
internal import ExecutionContexts

/// The functions of the program that addresses of code belong to.
enum CodeLocations {
    /// Addresses that were asked for before: reading the symbols of a program takes a millisecond.
    private static let known = Locked<[UInt: FunctionName?]>([:])

    /// The function that the first of the addresses belongs to, the program's own rather than one
    /// of the standard library; nil if none is known.
    static func function(at addresses: [UInt]) -> String? {
        let names = names(at: addresses)
        return (names.first { !$0.isOfLibrary } ?? names.first { !$0.isOfPackage })?.text
    }

    /// The functions of the program that the addresses belong to.
    static func functions(at addresses: [UInt]) -> [String] {
        names(at: addresses).filter { !$0.isOfLibrary }.map(\.text)
    }

    /// The function that the address belongs to, if it is one of the program's own.
    static func ofProgram(_ address: UInt) -> FunctionName? {
        names(at: [address]).first { !$0.isOfLibrary }
    }

    private static func names(at addresses: [UInt]) -> [FunctionName] {
        known.withLock { known in
            addresses.compactMap { address in
                let name = known[address] ?? describe(address)
                known[address] = .some(name)
                return name
            }
        }
    }

    private static func describe(_ address: UInt) -> FunctionName? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { buffer in
            let isKnown = unsafe ecs_function(address, buffer.baseAddress!, buffer.count)
            return isKnown ? FunctionName(unsafe String(cString: buffer.baseAddress!)) : nil
        }
    }
}

/// The name of a function for a reader: "closure #1 in Store.load".
struct FunctionName {
    let text: String
    /// Whether it is a function of the standard library or of this one.
    let isOfLibrary: Bool
    /// Whether it is a function of this library.
    let isOfPackage: Bool
    /// Whether it is an accessor that changes a property.
    let isAccessor: Bool

    private static let package: Set<String> = [
        "ExecutionContexts", "ExecutionContextsTesting", "ExecutionContextsWork",
    ]

    /// The name without module, types and labels; nil for a thunk, which the compiler adds.
    init?(_ demangled: String) {
        guard !demangled.contains("thunk") else { return nil }
        isAccessor = demangled.contains(".modify : ") || demangled.contains(".setter : ")
        // "... for" and "generic specialization <...> of" stand before the name.
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
        isOfPackage = Self.package.contains(String(module))
        isOfLibrary = isOfPackage || ["Swift", "_Concurrency"].contains(module)
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
        let path = String(part)
            .replacing(#/^(variable initialization expression of )?(static )?/#, with: "")
            .replacing(/\(extension in \w+\):/, with: "")
            .replacing(/\((\w+) in _[0-9A-F]+\)/) { String($0.1) }
        var isQuoted = false
        let end = path.firstIndex { character in
            if character == "`" { isQuoted.toggle() }
            return !isQuoted && "(< ".contains(character)
        }
        let name = path[..<(end ?? path.endIndex)]
        return String(name.hasSuffix(".getter") ? name.dropLast(7) : name)
    }
}
