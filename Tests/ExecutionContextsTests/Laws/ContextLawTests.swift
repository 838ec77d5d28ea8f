import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The law kit over every context of the library, and over every decorator over every context.
@Suite(.serialized)
struct ContextLawTests {
    @Test(arguments: Subject.some(0))
    func `Law 1: every job runs once and every caller gets an outcome`(_ subject: Subject) async {
        await expect(1, of: subject)
    }

    @Test(arguments: Subject.some(1))
    func `Law 2: jobs of a serial context run one at a time, in order`(_ subject: Subject) async {
        await expect(2, of: subject)
    }

    @Test(arguments: Subject.some(2))
    func `Law 3: a barrier runs alone, between earlier and later jobs`(_ subject: Subject) async {
        await expect(3, of: subject)
    }

    @Test(arguments: Subject.some(3))
    func `Law 4: a context recognizes its own jobs and no others`(_ subject: Subject) async {
        await expect(4, of: subject)
    }

    @Test(arguments: Subject.some(4))
    func `Law 7: a delay is never early, and cancel() says whether it was in time`(
        _ subject: Subject
    ) async {
        await expect(7, of: subject)
    }

    @Test(arguments: Subject.some(5))
    func `Law 9: code that a context calls may call the context`(_ subject: Subject) async {
        await expect(9, of: subject)
    }

    @Test(arguments: Subject.some(6))
    func `Law 10: a context releases a closure right after it has run`(_ subject: Subject) async {
        await expect(10, of: subject)
    }

    @Test(arguments: Subject.some(7))
    func `Law 13: tasks and actors run on a context, and cancellation reaches waiting jobs`(
        _ subject: Subject
    ) async {
        await expect(13, of: subject)
    }

    /// By 13, each decorator comes once at least in each of the two places.
    private static let pairs = sample(Subject.viewsOfViews, every: 13)

    @Test func `The pairs have each decorator in each place`() {
        let names = Self.pairs.map { $0.name.split(separator: ", ").map(String.init) }
        for place in 1...2 {
            #expect(Set(names.map { $0[place] }) == Set(Decorator.all.map(\.name)))
        }
    }

    @Test(arguments: pairs)
    func `Every law holds under two decorators`(_ subject: Subject) async {
        let made = subject.make()
        let breaches = await Laws.check(made.context, patience: Patience.event, drive: made.drive)
        #expect(breaches.isEmpty, "\(subject.name): \(breaches)")
    }

    private func expect(_ law: Int, of subject: Subject) async {
        let made = subject.make()
        let breaches = await Laws.check(
            made.context, laws: [law], patience: Patience.event, drive: made.drive)
        #expect(breaches.isEmpty, "\(subject.name): \(breaches)")
    }
}
