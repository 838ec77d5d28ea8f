package import ExecutionContexts

extension CodePlace {
    /// File and line, as "Store.swift:14"; without debug information the name of the function.
    ///
    /// Nil if it is unknown, or a place in the library itself.
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
        // "Module/Folder/File.swift", without the folders.
        guard let call = callParts else { return nil }
        let parts = call.fileID.split(separator: "/")
        guard let module = parts.first, let file = parts.last,
            !FunctionName.isOfPackage(module: module)
        else { return nil }
        return call.line == 0 ? String(file) : "\(file):\(call.line)"
    }
}

extension JobSource {
    /// The label, or else where the job was written; nil if neither is known.
    package var title: String? {
        shownLabel ?? place.text ?? (place == .taskPart ? "part of a task" : nil)
    }

    /// The name of a job with a number.
    package func name(ofJob number: UInt64) -> String { title ?? "#\(number)" }
}
