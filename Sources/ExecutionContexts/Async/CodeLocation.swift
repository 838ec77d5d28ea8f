/// A source location: file and line.
@usableFromInline
@safe struct CodeLocation: @unchecked Sendable, CustomStringConvertible {
    // Unchecked: the characters of a literal never change, and live as long as the process.
    private let fileID: UnsafePointer<UInt8>
    private let line: UInt32

    @usableFromInline
    init(_ fileID: StaticString, _ line: UInt) {
        // The characters of a literal are null-terminated.
        unsafe self.fileID = fileID.utf8Start
        self.line = UInt32(clamping: line)
    }

    /// The location in one word.
    var place: CodePlace { unsafe CodePlace(characters: fileID, UInt(line)) }

    @usableFromInline
    var description: String { unsafe "\(String(cString: fileID)):\(line)" }
}
