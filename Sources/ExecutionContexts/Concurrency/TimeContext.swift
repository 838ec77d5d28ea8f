/// The time of a context without the context: a due delay runs on the spot, except on the timer's
/// thread.
///
/// For what resumes a task, which may run on any executor, and for what must not wait for the
/// context (law 7).
struct TimeContext: ExecutionContext {
    let time: any TimeSource
    let name: String

    func execute(_ work: @escaping Work) { work() }

    func enqueue(_ work: consuming @escaping Work) {
        if SystemTime.isFiring { GlobalContext().enqueue(consume work) } else { work() }
    }
}
