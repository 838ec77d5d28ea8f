internal import ExecutionContexts

/// The turns of a group of objects on the context that they share.
///
/// A call from that context is taken at once where order allows (law 6), any other one is submitted. What is called for
/// in the middle of a turn is taken behind it, before the thread goes back: so no state is entered twice, a chain of
/// calls does not nest, and it takes one submission all the same.
final class Turns: @unchecked Sendable {
    // Unchecked: what changes is touched on the context only, and that is a serial one.
    let context: any SerialContext
    private let entry: any SerialContext
    /// What the context adds to its jobs; nil if it adds nothing.
    private let additions: InlineAdditions?
    private var waiting: [Work] = []
    private var isRunning = false

    init(on context: some SerialContext) {
        self.context = context
        entry = context.inlineIfCurrent()
        additions = InlineAdditions(of: context)
    }

    /// Takes a turn now or later. It ends what was accepted before: where there is no room for it, it goes above the capacity.
    func perform(_ turn: @escaping Work) {
        let piece: Work = { self.take(turn) }
        entry.execute(piece, refused: { [entry] _ in entry.enqueue(piece) })
    }

    /// Takes a turn now or later, or says why that will never be.
    func perform(_ turn: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        entry.execute({ self.take(turn) }, refused: refused)
    }

    /// Takes a turn behind this one, before any that somebody else asks for; for who is in a turn.
    func next(_ turn: @escaping Work) { waiting.append(turn) }

    /// Whether the caller is on the context for certain, and may take a turn at once.
    var isHere: Bool { context.isCurrent == true && additions?.skipsNow != true }

    /// Takes a turn at once, with what the context adds to its jobs; for a caller that is on it, and sees to the order.
    func takeHere(_ turn: @escaping Work) {
        guard !isRunning, let additions else { return take(turn) }
        additions.adding(to: { self.take(turn) })()
    }

    /// Takes a turn on the spot, or behind the one under way; for who is on the context, and sees to the order.
    func take(_ turn: @escaping Work) {
        waiting.append(turn)
        if isRunning { return }
        isRunning = true
        // Batch by batch: what a turn has captured goes with it, not with the last of them (law 10).
        while !waiting.isEmpty {
            var batch = waiting
            waiting = []
            batch.reverse()
            while let next = batch.popLast() { next() }
        }
        isRunning = false
    }
}
