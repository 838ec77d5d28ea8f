internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// The titles of jobs, each once: their labels, or where they were written.
struct JobTitles {
    private(set) var texts: [String] = []
    private var numbers: [JobSource: Int] = [:]

    /// The number of a source's title among `texts`, from 1; 0 if it has none.
    mutating func number(of source: JobSource) -> Int {
        if let known = numbers[source] { return known }
        let text = source.title
        let known = text.flatMap { texts.firstIndex(of: $0) }
        if let text, known == nil { texts.append(text) }
        let number = text == nil ? 0 : known.map { $0 + 1 } ?? texts.count
        numbers[source] = number
        return number
    }

    /// Texts as the elements of a JSON array.
    static func json(_ texts: some Sequence<String>) -> String {
        texts.map(JSONText.quoted).joined(separator: ",")
    }
}
