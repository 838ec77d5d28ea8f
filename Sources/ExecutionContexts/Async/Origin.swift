/// Where something was made, as file and line.
@usableFromInline
@safe struct Origin: @unchecked Sendable, CustomStringConvertible {
    // Unchecked: the characters of a literal never change, and live as long as the program.
    private let fileID: UnsafePointer<UInt8>
    private let line: UInt32

    @usableFromInline
    init(_ fileID: StaticString, _ line: UInt) {
        // A literal's characters end in a zero.
        unsafe self.fileID = fileID.utf8Start
        self.line = UInt32(clamping: line)
    }

    @usableFromInline
    var description: String { unsafe "\(String(cString: fileID)):\(line)" }
}
