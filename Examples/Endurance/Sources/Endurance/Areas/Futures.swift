import ExecutionContexts

/// Random chains and groups of futures that are completed, failed, cancelled and dropped.
///
/// Each callback must run once.
enum Futures {
    private struct Oops: Error {}

    static func round(_ rng: inout SeededRNG) -> Int {
        let round = Round("futures")
        var operations = 0
        for _ in 0..<20 + rng.next(below: 100) { operations += chain(&rng, round) }
        round.finish()
        return operations
    }

    private static func chain(_ rng: inout SeededRNG, _ round: Round) -> Int {
        var promise: Promise<Int>? = Promise<Int>()
        var async = promise!.async
        let length = 1 + rng.next(below: 12)
        for _ in 0..<length { async = link(async, &rng) }
        for _ in 0..<1 + rng.next(below: 3) {
            let notified = round.expect("a callback")
            switch rng.next(below: 3) {
            case 0: async.onComplete { _ in notified() }
            case 1: async.onComplete(on: .global) { _ in notified() }
            default: async.onComplete(on: .pool) { _ in notified() }
            }
        }
        let completer = promise!
        switch rng.next(below: 5) {
        case 0: completer.succeed(1)
        case 1: GlobalContext().execute { completer.succeed(1) }
        case 2: PoolContext().execute { completer.fail(Oops()) }
        case 3: async.cancel()
        default: break
        }
        promise = nil
        return length + 4
    }

    private static func link(_ async: Async<Int>, _ rng: inout SeededRNG) -> Async<Int> {
        switch rng.next(below: 9) {
        case 0: async.map { $0 + 1 }
        case 1: async.map(on: .global) { $0 + 1 }
        case 2: async.map(on: .pool) { $0 + 1 }
        case 3: async.flatMap { value in GlobalContext().submit { value } }
        case 4: async.recover { _ in 1 }
        case 5: async.timeout(after: .seconds(100), on: .global)
        case 6: Async.all([async, async.map { $0 }]).map { $0[0] }
        case 7: Async.first(of: [async, async.map { $0 }])
        default: async.delay(.microseconds(rng.next(below: 500)), on: .global)
        }
    }
}
