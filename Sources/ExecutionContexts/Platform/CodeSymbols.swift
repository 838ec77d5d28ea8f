internal import CPlatform

/// What the program's symbols and debug information say about addresses of code.
///
/// An address is looked up when it is first asked for, which takes milliseconds, and kept.
package enum CodeSymbols {
    private static let functions = Guarded<[UInt: FunctionName?]>([:])
    private static let declarations = Guarded<[UInt: String?]>([:])

    /// The function that an address belongs to; nil if it is none of Swift, or a thunk.
    package static func function(at address: UInt) -> FunctionName? {
        if let known = functions.withUnscheduledLock({ $0[address] }) { return known }
        let function = unsafe withText { text, size in
            unsafe ec_function(address, text, size) ? FunctionName(String(cString: text)) : nil
        }
        functions.withUnscheduledLock { $0[address] = .some(function) }
        return function
    }

    /// The file and the line at which the function at an address begins, as "Store.swift:14".
    ///
    /// Nil without debug information, and on Apple's systems, where a program's file has none.
    package static func declaration(at address: UInt) -> String? {
        if let known = declarations.withUnscheduledLock({ $0[address] }) { return known }
        let declaration = unsafe withText { text, size in
            let line = unsafe ec_declaration(address, text, size)
            return unsafe location(String(cString: text), line)
        }
        declarations.withUnscheduledLock { $0[address] = .some(declaration) }
        return declaration
    }

    /// The innermost line at an address; nil if it is not known. The caller keeps it.
    package static func line(at address: UInt) -> String? {
        unsafe withText { text, size in
            let line = unsafe ec_line(address, text, size)
            return unsafe location(String(cString: text), line)
        }
    }

    private static func withText<Result>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { text in
            unsafe body(text.baseAddress.unsafelyUnwrapped, text.count)
        }
    }

    /// The name of a file and a line. The code of a macro, and the compiler's own, are in no file.
    private static func location(_ path: String, _ line: UInt64) -> String? {
        guard line > 0, let file = path.split(separator: "/").last, !file.hasPrefix("@"),
            !file.hasPrefix("<")
        else { return nil }
        return "\(file):\(line)"
    }
}
