internal import ExecutionContexts

/// The source of a recorded job, in one word: its place, or the index of its label.
///
/// | highest two bits | meaning |
/// |---|---|
/// | 01 | the index of a label; the next bit is set for the name of a drained view |
/// | others | a `CodePlace` |
struct RecordedSource: BitwiseCopyable, Hashable, Sendable {
    let word: UInt64

    static var unknown: RecordedSource { RecordedSource(word: 0) }

    private static let label: UInt64 = 1 << 62, drain: UInt64 = 1 << 61

    init(word: UInt64) { self.word = word }

    init(_ place: CodePlace) { word = place.word }

    init(labelAt index: UInt32, isDrain: Bool) {
        word = Self.label | (isDrain ? Self.drain : 0) | UInt64(index)
    }

    /// The number of the label, if it is one.
    var label: UInt32? { word >> 62 == 1 ? UInt32(truncatingIfNeeded: word) : nil }

    /// The source, where `labels` has the labels of the recorder.
    func source(in labels: [String]) -> JobSource {
        guard let label else { return JobSource(CodePlace(word: word)) }
        let isDrain = word & Self.drain != 0
        let index = Int(label)
        return JobSource(
            isDrain ? .drain : .unknown, label: labels.indices.contains(index) ? labels[index] : nil
        )
    }
}
