/// Programs in the style of the suites that researchers use: SCTBench of C, JaConTeBe of Java, and
/// GoBench with its kernels of Go.
///
/// Each is rebuilt small, with the means of Swift and of this library. A comment names the program
/// or the suite that it resembles.
extension SeededBug {
    /// The programs in the style of public suites.
    package static let suites: [SeededBug] =
        suiteReorders + suiteLocks + suiteBuffers + suiteStealing
        + suitePools + suiteDeadPools + suiteCaches
        + suiteChannels + suiteStops + suiteGroups + suiteTasks
}
