/// How long a search has made no step, in time in which its threads could run.
///
/// A thread looks at the count of steps once in a while. Where the machine is too busy to wake that
/// thread in time, it also keeps the search's threads waiting: such a look counts a tenth.
struct Stillness {
    /// The time between two looks.
    let interval: Duration
    private var stepCount: Int
    private var tenths = 0

    private static let looks = 20

    init(patience: Duration, stepCount: Int) {
        interval = patience / Self.looks
        self.stepCount = stepCount
    }

    /// Takes a look, `waited` after the last one; returns whether the patience is over.
    mutating func isOver(stepCount: Int, waited: Duration) -> Bool {
        if stepCount != self.stepCount {
            (self.stepCount, tenths) = (stepCount, 0)
            return false
        }
        tenths += waited < interval * 2 ? 10 : 1
        return tenths >= Self.looks * 10
    }
}
