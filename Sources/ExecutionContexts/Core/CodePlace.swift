/// Where a job was written, in one word.
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
package struct CodePlace: BitwiseCopyable, Hashable, Sendable {
    package let word: UInt64

    package init(word: UInt64) { self.word = word }

    package static var unknown: CodePlace { CodePlace(word: 0) }
    package static var drain: CodePlace { CodePlace(word: 1) }
    static var taskPart: CodePlace { CodePlace(word: 2) }

    private static var address: UInt64 { 1 << 48 - 1 }
    private static var mostLines: UInt64 { 1 << 15 - 1 }

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
    package init(_ fileID: StaticString, _ line: UInt) {
        // The characters of a literal live as long as the program and end in a zero.
        unsafe self.init(characters: fileID.utf8Start, line)
    }

    package init(characters: UnsafePointer<UInt8>, _ line: UInt) {
        let address = UInt64(UInt(bitPattern: characters)) & Self.address
        word = 1 << 63 | (line > Self.mostLines ? 0 : UInt64(line)) << 48 | address
    }

    /// File and line, as "Store.swift:14"; without debug information the name of the function.
    ///
    /// Nil if that is not known, or a place in the library itself.
    package var text: String? {
        if word <= 2 { return nil }
        return word >> 63 == 1 ? textOfCall : textOfCode
    }

    private var textOfCode: String? {
        guard let function = CodeSymbols.function(at: UInt(word)), !function.isOfLibrary else {
            return nil
        }
        return CodeSymbols.declaration(at: UInt(word)) ?? function.text
    }

    private var textOfCall: String? {
        guard let name = unsafe UnsafePointer<CChar>(bitPattern: UInt(word & Self.address)) else {
            return nil
        }
        // "Module/Folder/File.swift", without the folders.
        let parts = unsafe String(cString: name).split(separator: "/")
        guard let module = parts.first, let file = parts.last,
            !FunctionName.isOfPackage(module: module)
        else { return nil }
        let line = word >> 48 & Self.mostLines
        return line == 0 ? String(file) : "\(file):\(line)"
    }
}
