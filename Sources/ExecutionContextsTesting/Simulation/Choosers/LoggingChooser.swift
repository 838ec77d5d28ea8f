/// Chooses by the objects that the steps of a schedule use; the schedule records them here.
class LoggingChooser: Chooser {
    /// The steps of the schedule that runs.
    private(set) final var log = OrderLog()
    /// The conflicting operations of all its schedules.
    private var conflicts = ConflictingPairs()
    /// Whether a schedule continued beyond what its log records.
    final var isCut = false

    final override var orders: LoggingChooser? { self }

    final override var pairs: ConflictingPairs? { conflicts }

    /// Counts the races of the schedule that has ended.
    final func count(_ races: Races) { conflicts.add(races, of: log) }

    override func begin() {
        log = OrderLog(checked: log.checked, hasTasks: log.hasTasks)
    }

    /// Returns the thread that runs next; `blocked` are the threads about to take a lock that is
    /// taken. With `isChecked`, invariants are checked after each step.
    func choose(_ candidates: UInt64, blocked: UInt64, isChecked: Bool, usual: Int) -> Int {
        usual
    }
}
