import ExecutionContexts
import ExecutionContextsTesting

/// What the law kit says of executors with a mistake.
func showMistakes(_ report: inout Report) async {
    report.begin("Mistakes, and what the law kit says of them")
    await expectBreach(by: NewestFirst(), ofLaw: 2, &report)
    await expectBreach(by: ClaimsEveryThread(), ofLaw: 4, &report)
    await expectBreach(by: RemembersTheLast(), ofLaw: 10, &report)
}

private func expectBreach(by context: some ExecutionContext, ofLaw law: Int, _ report: inout Report) async {
    // Less patience than usual: that a closure is never let go of can only be told by waiting.
    let breaches = await Laws.check(context, patience: .seconds(1))
    let laws = Set(breaches.map(\.law)).sorted()
    report.expect("\(context.name) breaks law", laws.map(String.init).joined(separator: ", "), toBe: "\(law)")
    if let breach = breaches.first { report.quote("\(breach)") }
}
