/// What a search knows about the tasks of the running schedule.
///
/// The index of its record is stored in each task, so it is found without a table.
final class TaskRecords {
    /// All records that were ever needed; most of them are free between two schedules.
    private(set) var all: [TaskRecord] = []
    /// How many tasks have a record, and how many had one at a time since the schedule began.
    private var livingCount = 0
    private(set) var mostLiving = 0
    /// The index of the first free record; negative if there is none.
    private var free = -1

    /// The record of a task, or of the task that the job resumes; nil if it has none.
    func known(_ job: TaskJob) -> TaskRecord? {
        at(job.record, job.number)
    }

    /// The record with an index, counted from one, if it belongs to the task with this number.
    func at(_ place: Int, _ number: UInt32) -> TaskRecord? {
        // The task may have its record from an earlier schedule, or from another search.
        guard place > 0, place <= all.count, all[place - 1].number != 0 else { return nil }
        return all[place - 1].number == number ? all[place - 1] : nil
    }

    /// The record of a task; creates one if it has none.
    func record(of task: TaskJob) -> TaskRecord { known(task) ?? new(task) }

    private func new(_ task: TaskJob) -> TaskRecord {
        livingCount += 1
        mostLiving = max(mostLiving, livingCount)
        if free < 0 { grow() }
        let record = all[free]
        free = record.nextFree
        record.number = task.number
        task.setOwner(0, record: record.place + 1)
        return record
    }

    private func grow() {
        free = all.count
        // Moved out and back: a variable that is never mutated in place is read without exclusivity
        // checks.
        var longer = all
        all = []
        longer.append(TaskRecord(place: free))
        all = longer
    }

    /// Frees the record of a task that has ended; returns the job that the caller releases.
    func end(_ record: TaskRecord) -> TaskJob? {
        let job = record.job
        livingCount -= 1
        record.clear()
        record.nextFree = free
        free = record.place
        return job
    }

    /// Frees all records.
    func endAll() {
        for record in all where record.number != 0 { end(record)?.release() }
        mostLiving = 0
    }
}

/// What a schedule knows about one task, from its creation to its end.
final class TaskRecord {
    let place: Int
    /// The task's number; zero while the record is free.
    var number: UInt32 = 0
    /// The task, once it has begun: retained to check whether it has ended.
    var job: TaskJob?
    /// The context with which it began; zero if that is unknown.
    var firstContext: UInt = 0
    /// Whether it ends a part to continue on an executor of the program's own; for the story.
    var isHandedOver = false
    /// The type of the error that its body has thrown, if the search has caught it.
    var thrown: String?
    /// Whether it has ended a part only to change its actor; for the story.
    var isMoving = false
    /// Whether it was cancelled when its last part began; for the story.
    var wasCancelled = false
    var title = SimulatedThread.Title.none
    /// Whether Swift created the task to end a sleep.
    var endsSleep = false
    /// How often it has yielded since time advanced, at this step.
    private var yields = (since: -1, count: 0)
    /// Whether it continued on an executor of the program's own, and is no longer retained.
    var wasHandedOver = false
    /// Addresses in the functions that created it.
    var creators: [UInt] = []
    /// The thread that runs it.
    var thread: SimulatedThread?
    /// The index of the next free record; negative if there is none.
    var nextFree = -1

    init(place: Int) { self.place = place }

    /// Counts a yield; returns how many there were since time has advanced, at this step.
    func yields(since step: Int) -> Int {
        yields = (step, yields.since == step ? yields.count + 1 : 1)
        return yields.count
    }

    func clear() {
        (number, job, title, thread, thrown) = (0, nil, .none, nil, nil)
        (endsSleep, wasHandedOver) = (false, false)
        (firstContext, isHandedOver, isMoving, wasCancelled) = (0, false, false, false)
        yields = (-1, 0)
        creators.removeAll(keepingCapacity: true)
    }
}
