import ExecutionContextsTesting
import Foundation
import SeededBugs

// Measures the simulator by the seeded bugs, and fails if it misses what Docs/Simulation.md says.

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case (nil, 0): exit(Measuring(SeededBug.all, isQuick: false).run() ? 0 : 1)
case ("--quick", 1): exit(Measuring(SeededBug.all, isQuick: true).run() ? 0 : 1)
case ("--plain", 1): exit(Measuring(SeededBug.plain, isQuick: false).run() ? 0 : 1)
case ("--suites", 1): exit(Measuring(SeededBug.suites, isQuick: false).run() ? 0 : 1)
case ("--suites", 2) where arguments[1] == "--quick":
    exit(Measuring(SeededBug.suites, isQuick: true).run() ? 0 : 1)
case ("strategies", 1): Strategies(SeededBug.all).print()
case ("strategies", 2):
    Strategies(SeededBug.all.filter { $0.name.contains(arguments[1]) }).print()
case ("stories", 2):
    for bug in SeededBug.all where bug.name.contains(arguments[1]) {
        if let failure = bug.search().failure { print(failure, terminator: "\n\n") }
    }
case ("tokens", 1): exit(Tokens.print() ? 0 : 1)
case ("replay", 2):
    exit(try Tokens.replay(String(contentsOfFile: arguments[1], encoding: .utf8)) ? 0 : 1)
default:
    print(
        "usage: Corpus [--quick]      how soon the bugs are found, and whether their twins are clean"
    )
    print("       Corpus --plain        the same for the bugs of plain Swift concurrency only")
    print("       Corpus --suites [--quick]     the same for those of public suites only")
    print(
        "       Corpus strategies [WORDS]     how soon each strategy finds those with these words")
    print("       Corpus stories WORDS  the failures of the bugs with these words")
    print("       Corpus tokens         a token of each failure, for another build to replay")
    print("       Corpus replay FILE    replays them")
    exit(2)
}
