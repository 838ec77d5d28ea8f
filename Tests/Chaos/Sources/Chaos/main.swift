import ExecutionContexts
import Foundation

// Chaos SUBJECT ROUNDS [SEED]: attacks a subject in so many rounds, each drawn from its own seed.
// Ends with 0 and a line of what was done, or with 1 and what was broken in which round.

let attacks: [(name: String, attack: @Sendable (inout Draw) async -> Findings)] = [
    ("channel", attackChannel), ("semaphore", attackSemaphore), ("lock", attackLock),
    ("ending", attackEnding), ("queue", attackQueue), ("scope", attackScope),
]

let arguments = CommandLine.arguments.dropFirst()
guard let name = arguments.first, let rounds = arguments.dropFirst().first.flatMap({ Int($0) }),
    let attack = attacks.first(where: { $0.name == name })?.attack
else {
    print("usage: Chaos \(attacks.map(\.name).joined(separator: "|")) ROUNDS [SEED]")
    exit(2)
}
let firstSeed = arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1

/// Several rounds at a time, so that each is disturbed by others.
let width = 6
var operations = 0
await withTaskGroup(of: (seed: UInt64, findings: Findings).self) { group in
    @Sendable func play(_ seed: UInt64) async -> (UInt64, Findings) {
        var draw = Draw(seed: seed)
        return (seed, await attack(&draw))
    }
    var next = firstSeed
    let end = firstSeed + UInt64(rounds)
    while next < end, next < firstSeed + UInt64(width) {
        let seed = next
        group.addTask { await play(seed) }
        next += 1
    }
    while let (seed, findings) = await group.next() {
        operations += findings.operations
        if !findings.broken.isEmpty {
            print("\(name): round \(seed) broke: \(findings.broken.joined(separator: "; "))")
            exit(1)
        }
        if next < end {
            let seed = next
            group.addTask { await play(seed) }
            next += 1
        }
    }
}
print("\(name): \(rounds) rounds, \(operations) operations, nothing broken")
