internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// The functions of the program that addresses of code belong to.
enum CodeLocations {
    /// The function of the first known address, preferring the program's own to the standard
    /// library's; nil if none is known.
    static func function(at addresses: [UInt]) -> String? {
        let names = names(at: addresses)
        return (names.first { !$0.isOfLibrary } ?? names.first { !$0.isOfPackage })?.text
    }

    /// The functions of the program that the addresses belong to.
    static func functions(at addresses: [UInt]) -> [String] {
        names(at: addresses).filter { !$0.isOfLibrary }.map(\.text)
    }

    /// The function that the address belongs to, if it is the program's own.
    static func ofProgram(_ address: UInt) -> FunctionName? {
        names(at: [address]).first { !$0.isOfLibrary }
    }

    private static func names(at addresses: [UInt]) -> [FunctionName] {
        addresses.compactMap(CodeSymbols.function)
    }
}
