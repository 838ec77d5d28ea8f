import ExecutionContexts
import ExecutionContextsTesting

/// One method is enough; the rest is free.
func showOneMethod(_ report: inout Report) async throws {
    report.begin("One method: a thread for each piece of work")
    let context = ThreadPerPiece()
    report.expect("run, and await the value", try await context.run { 6 * 7 }, toBe: 42)

    let order = LockedResource<[Int]>([], lockedBy: .section)
    let view = context.serial("in order")
    for number in 1...5 { view.execute { order.write { $0.append(number) } } }
    try await view.run {}
    report.expect("five threads, in order by a serial view", order.read { $0 }, toBe: [1, 2, 3, 4, 5])
    report.expect("breaches that the law kit found", await Laws.check(context).count, toBe: 0)
}
