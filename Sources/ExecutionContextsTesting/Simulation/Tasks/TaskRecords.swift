/// What a search knows about the tasks of the schedule that runs.
///
/// A task has the place of its record written into it, so it is found without a table.
final class TaskRecords {
    /// All that a schedule has needed; most of them are free between two schedules.
    private(set) var all: [TaskRecord] = []
    /// The place of the first that is free; negative if none is.
    private var free = -1

    /// The record of a task, or of the task that the job resumes; nil if it has none.
    func known(_ job: TaskJob) -> TaskRecord? {
        at(job.record, job.number)
    }

    /// The record at a place, counted from one, if it is of the task with this number.
    func at(_ place: Int, _ number: UInt32) -> TaskRecord? {
        // The task may have got its record in an earlier schedule, or in another search.
        guard place > 0, place <= all.count, all[place - 1].number != 0 else { return nil }
        return all[place - 1].number == number ? all[place - 1] : nil
    }

    /// The record of a task, which gets one if it has none.
    func record(of task: TaskJob) -> TaskRecord { known(task) ?? new(task) }

    private func new(_ task: TaskJob) -> TaskRecord {
        if free < 0 { grow() }
        let record = all[free]
        free = record.nextFree
        record.number = task.number
        task.setOwner(0, record: record.place + 1)
        return record
    }

    private func grow() {
        free = all.count
        // Moved out and back: what no code changes in place is read without a check for exclusive
        // access.
        var longer = all
        all = []
        longer.append(TaskRecord(place: free))
        all = longer
    }

    /// Frees the record of a task that has ended; returns what the caller releases.
    func end(_ record: TaskRecord) -> TaskJob? {
        let job = record.job
        record.clear()
        record.nextFree = free
        free = record.place
        return job
    }

    /// Frees all records.
    func endAll() {
        for record in all where record.number != 0 { end(record)?.release() }
    }
}

/// What a schedule knows about one task, from its creation to its end.
final class TaskRecord {
    let place: Int
    /// The task's number; zero while the record is free.
    var number: UInt32 = 0
    /// The task since it has begun: it is kept to be asked whether it has ended.
    var job: TaskJob?
    var title = SimulatedThread.Title.none
    /// Whether Swift has made the task to end a sleep.
    var endsSleep = false
    /// Whether it has gone on with an executor of the program's own, and is not kept any more.
    var wasHandedOver = false
    /// Addresses in the functions that have created it.
    var creators: [UInt] = []
    /// The thread that runs it.
    var thread: SimulatedThread?
    /// The place of the next free record; negative if there is none.
    var nextFree = -1

    init(place: Int) { self.place = place }

    func clear() {
        (number, job, title, thread) = (0, nil, .none, nil)
        (endsSleep, wasHandedOver) = (false, false)
        creators.removeAll(keepingCapacity: true)
    }
}
