import ExecutionContexts
import ExecutionContextsTesting

/// Shows that one method is enough. The library adds the rest.
func showOneMethod(_ report: inout Report) async throws {
    report.begin("One method: a thread per job")
    let context = ThreadPerJob()
    report.expect("run, and await the value", try await context.run { 6 * 7 }, toBe: 42)

    let order = LockedResource<[Int]>([], lockedBy: .section)
    let view = context.serial(named: "in order")
    for number in 1...5 { view.execute { order.mutate { $0.append(number) } } }
    try await view.run {}
    report.expect(
        "five threads, in order by a serial view", order.read { $0 }, toBe: [1, 2, 3, 4, 5])
    report.expect("breaches that the law kit found", await Laws.check(context).count, toBe: 0)
}
