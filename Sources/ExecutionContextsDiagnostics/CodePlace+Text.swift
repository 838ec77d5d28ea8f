package import ExecutionContexts

extension CodePlace {
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
        // "Module/Folder/File.swift:14", without the folders.
        let parts = call.split(separator: "/")
        guard let module = parts.first, let file = parts.last,
            !FunctionName.isOfPackage(module: module)
        else { return nil }
        return String(file)
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
