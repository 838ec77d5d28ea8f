import ExecutionContexts

/// Random chains and groups of futures that are completed, failed, cancelled and dropped: each
/// callback comes once.
enum Futures {
    private struct Oops: Error {}

    static func round(_ dice: inout Dice) -> Int {
        let round = Round("futures")
        var operations = 0
        for _ in 0..<20 + dice.roll(100) { operations += chain(&dice, round) }
        round.finish()
        return operations
    }

    private static func chain(_ dice: inout Dice, _ round: Round) -> Int {
        var promise: Promise<Int>? = Promise<Int>()
        var async = promise!.async
        let length = 1 + dice.roll(12)
        for _ in 0..<length { async = link(async, &dice) }
        for _ in 0..<1 + dice.roll(3) {
            let told = round.expect("a callback")
            switch dice.roll(3) {
            case 0: async.onComplete { _ in told() }
            case 1: async.onComplete(on: .global) { _ in told() }
            default: async.onComplete(on: .pool) { _ in told() }
            }
        }
        let ender = promise!
        switch dice.roll(5) {
        case 0: ender.succeed(1)
        case 1: GlobalContext().execute { ender.succeed(1) }
        case 2: PoolContext().execute { ender.fail(Oops()) }
        case 3: async.cancel()
        default: break
        }
        promise = nil
        return length + 4
    }

    private static func link(_ async: Async<Int>, _ dice: inout Dice) -> Async<Int> {
        switch dice.roll(9) {
        case 0: async.map { $0 + 1 }
        case 1: async.map(on: .global) { $0 + 1 }
        case 2: async.map(on: .pool) { $0 + 1 }
        case 3: async.flatMap { value in GlobalContext().submit { value } }
        case 4: async.recover { _ in 1 }
        case 5: async.timeout(after: .seconds(100), on: .global)
        case 6: Async.all([async, async.map { $0 }]).map { $0[0] }
        case 7: Async.first(of: [async, async.map { $0 }])
        default: async.delay(.microseconds(dice.roll(500)), on: .global)
        }
    }
}
