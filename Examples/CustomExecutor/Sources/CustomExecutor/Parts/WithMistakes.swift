import ExecutionContexts
import ExecutionContextsTesting

/// Shows what the law kit reports about executors with a mistake.
func showMistakes(_ report: inout Report) async {
    report.begin("Mistakes, and what the law kit reports")
    await expectBreach(by: NewestFirst(), ofLaw: 2, &report)
    await expectBreach(by: ClaimsEveryThread(), ofLaw: 4, &report)
    await expectBreach(by: RemembersTheLast(), ofLaw: 10, &report)
}

private func expectBreach(by context: some ExecutionContext, ofLaw law: Int, _ report: inout Report)
    async
{
    // A shorter limit than usual: only waiting can show that a closure is never released.
    let breaches = await Laws.check(context, patience: .seconds(1))
    let laws = Set(breaches.map(\.law)).sorted()
    report.expect(
        "\(context.name) breaks law", laws.map(String.init).joined(separator: ", "), toBe: "\(law)")
    if let breach = breaches.first { report.quote("\(breach)") }
}
