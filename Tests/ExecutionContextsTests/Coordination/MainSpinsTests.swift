import ExecutionContexts
import Testing

struct MainSpinsTests {
    /// How many waits do without a spin until the next one has one.
    private func skipped(_ spins: inout MainSpins) -> Int {
        var count = 0
        while !spins.isNext() { count += 1 }
        return count
    }

    @Test func `While spins succeed, each wait begins with one`() {
        var spins = MainSpins()
        for _ in 0..<100 {
            #expect(skipped(&spins) == 0)
            spins.note(true)
        }
    }

    @Test func `After each spin in vain twice as many waits do without, up to 64`() {
        var spins = MainSpins()
        var counts: [Int] = []
        for _ in 0..<10 {
            counts.append(skipped(&spins))
            spins.note(false)
        }
        #expect(counts == [0, 2, 4, 8, 16, 32, 64, 64, 64, 64])
    }

    @Test func `A spin that succeeds begins anew`() {
        var spins = MainSpins()
        for _ in 0..<5 {
            _ = skipped(&spins)
            spins.note(false)
        }
        _ = skipped(&spins)
        spins.note(true)
        #expect(skipped(&spins) == 0)
        spins.note(false)
        #expect(skipped(&spins) == 2)
    }
}
