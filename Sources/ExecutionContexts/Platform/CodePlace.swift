/// Where a job or a call was written, in one word.
///
/// | word | meaning |
/// |---|---|
/// | 0 | unknown |
/// | 1 | a drain of a view, which the library itself submits |
/// | 2 | a part of a task |
/// | the highest bit is clear | an address of code: that of the job's closure |
/// | the highest bit is set | the line in 15 bits, then the address of a file's name in 48 bits |
///
/// Nothing is looked up before the place is shown.
@frozen @usableFromInline
package struct CodePlace: BitwiseCopyable, Hashable, Sendable {
    @usableFromInline package let word: UInt64

    package init(word: UInt64) { self.word = word }

    package static var unknown: CodePlace { CodePlace(word: 0) }
    package static var drain: CodePlace { CodePlace(word: 1) }
    package static var taskPart: CodePlace { CodePlace(word: 2) }

    @usableFromInline static var address: UInt64 { 1 << 48 - 1 }
    @usableFromInline static var mostLines: UInt64 { 1 << 15 - 1 }

    /// The place of a closure's code.
    ///
    /// An address has at most 48 bits; where the processor signs pointers, the signature is above.
    package init(code: UInt) { word = UInt64(code) & Self.address }

    /// The place of a closure of the main actor.
    init(ofMainActor work: @escaping @MainActor @Sendable () -> Void) {
        // A closure is two words, and the first is the address of its code. In a struct: a bare
        // closure would be passed to a generic function in a thunk, which has other code.
        self.init(
            code: unsafe withUnsafeBytes(of: MainActorWork(work: work)) {
                unsafe $0.load(as: UInt.self)
            })
    }

    private struct MainActorWork {
        let work: @MainActor @Sendable () -> Void
    }

    /// The place of a call. A line that does not fit is left out.
    @inlinable
    package init(_ fileID: StaticString, _ line: UInt) {
        guard fileID.hasPointerRepresentation else {
            word = 0
            return
        }
        // The characters of a literal live as long as the program and end in a zero.
        let address = unsafe UInt64(UInt(bitPattern: fileID.utf8Start)) & Self.address
        word = 1 << 63 | (line > Self.mostLines ? 0 : UInt64(line)) << 48 | address
    }

    /// The file and the line of a call, as "Main/Store.swift:14"; without a line above 32,767.
    /// Empty if it is no call.
    package var call: String {
        guard let parts = callParts else { return "" }
        return parts.line == 0 ? parts.fileID : "\(parts.fileID):\(parts.line)"
    }

    package var callParts: (fileID: String, line: UInt64)? {
        guard word >> 63 == 1,
            let name = unsafe UnsafePointer<CChar>(bitPattern: UInt(word & Self.address))
        else { return nil }
        return unsafe (String(cString: name), word >> 48 & Self.mostLines)
    }
}
