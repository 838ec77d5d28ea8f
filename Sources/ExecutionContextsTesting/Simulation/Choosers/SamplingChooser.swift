/// Gives each step a random priority, and chooses the highest: partial-order sampling.
///
/// A step that conflicts with one that has just been chosen gets a new priority. So each order of
/// conflicting steps is about equally likely, however many other steps there are.
final class SamplingChooser: TimedChooser {
    private var priorities = Chooser.zeros
    /// The operation of each thread that its priority belongs to; negative for none.
    private var operations = Chooser.zeros

    override func begin() {
        super.begin()
        operations = Self.zeros.map { _ in -1 }
    }

    override func chooseThread(_ situation: Situation) -> Int {
        var (best, rest) = (-1, situation.candidates)
        while rest != 0 {
            let id = rest.trailingZeroBitCount
            rest &= rest - 1
            if operations[id] != situation.threads[id].operations {
                operations[id] = situation.threads[id].operations
                priorities[id] = 1 + rng.below(1 << 30)
                // It waits by yielding: the others run first.
                if situation.yields && id == situation.thread { priorities[id] = 0 }
            }
            if best < 0 || priorities[id] > priorities[best] { best = id }
        }
        guard let intent = situation.threads[best].intent else { return best }
        rest = situation.candidates & ~(1 << UInt64(best))
        while rest != 0 {
            let id = rest.trailingZeroBitCount
            rest &= rest - 1
            if situation.threads[id].intent?.conflicts(with: intent) == true { operations[id] = -1 }
        }
        return best
    }
}
