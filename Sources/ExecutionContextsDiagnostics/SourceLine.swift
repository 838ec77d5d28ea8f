/// A line of a source file.
package struct SourceLine: Sendable {
    /// The path of the file, or only its name where the program does not say more.
    package let path: String
    package let number: UInt64

    /// Nil for the code of a macro, and for the compiler's own, which are in no file.
    init?(_ path: String, _ number: UInt64) {
        guard number > 0, let file = path.split(separator: "/").last, !file.hasPrefix("@"),
            !file.hasPrefix("<")
        else { return nil }
        (self.path, self.number) = (path, number)
    }

    /// The name of the file, and the number: "Store.swift:14".
    package var name: String {
        "\(path.split(separator: "/").last ?? ""):\(number)"
    }
}
