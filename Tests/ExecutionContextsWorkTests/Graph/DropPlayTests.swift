import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Random programs on contexts that drop jobs; see `DropPlay`.
@Suite(.patient)
struct DropPlayTests {
    @Test(arguments: Dropper.Way.allCases)
    func `Laws 1, 10, 31: whatever a context drops, each caller is answered once`(
        _ way: Dropper.Way
    ) async {
        for seed in seeds(debug: 30, release: 200) {
            var rng = SeededRNG(seed: seed)
            let (base, elsewhere) = (ManualContext(), ManualContext())
            let play = DropPlay(way, over: base, elsewhere: elsewhere, seed: seed)
            let spoilt = rng.next(below: 60)
            for number in 0..<80 {
                if number == spoilt { play.spoil() }
                play.step(&rng)
                switch rng.next(below: 4) {
                case 0: base.runReady()
                case 1: elsewhere.runReady()
                case 2: _ = base.step()
                default: if rng.next(below: 4) == 0 { base.advance(by: .seconds(1)) }
                }
            }
            let faults = await play.finish {
                base.advance(by: .seconds(1))
                return base.runReady() + elsewhere.runReady() > 0
            }
            #expect(faults.isEmpty, "\(way), seed \(seed)")
            if !faults.isEmpty { return }
        }
    }

    @Test(arguments: Dropper.Way.allCases)
    func `Laws 1, 10, 31: the same by four threads, beside the jobs that run`(
        _ way: Dropper.Way
    ) async {
        for seed in seeds(debug: 10, release: 100) {
            let base = GlobalContext().serial(named: "base")
            let elsewhere = GlobalContext().serial(named: "elsewhere")
            let play = DropPlay(way, over: base, elsewhere: elsewhere, seed: seed)
            await offThePool {
                onThreads(4) { thread in
                    var rng = SeededRNG(seed: seed &* 4 &+ UInt64(thread))
                    for number in 0..<60 {
                        if thread == 0, number == 20 { play.spoil() }
                        play.step(&rng)
                    }
                }
            }
            // A job of one context may submit one to the other: some rounds until none does.
            let faults = await play.finish(quietRounds: 20, patience: Patience.step) {
                base.sync {}
                elsewhere.sync {}
                return false
            }
            #expect(faults.isEmpty, "\(way), seed \(seed)")
            if !faults.isEmpty { return }
        }
    }
}
