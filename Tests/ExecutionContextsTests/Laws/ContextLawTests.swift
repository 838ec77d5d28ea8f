import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The law kit over every context of the library, and over every decorator over every context.
@Suite(.serialized)
struct ContextLawTests {
    @Test(arguments: Subject.all)
    func `Law 1: every job runs once and every caller gets an outcome`(_ subject: Subject) async {
        await expect(1, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 2: jobs of a serial context run one at a time, in order`(_ subject: Subject) async {
        await expect(2, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 3: a barrier runs alone, between earlier and later jobs`(_ subject: Subject) async {
        await expect(3, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 4: a context recognizes its own jobs and no others`(_ subject: Subject) async {
        await expect(4, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 7: a delay is never early, and cancel() says whether it was in time`(
        _ subject: Subject
    ) async {
        await expect(7, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 9: code that a context calls may call the context`(_ subject: Subject) async {
        await expect(9, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 10: a context releases a closure right after it has run`(_ subject: Subject) async {
        await expect(10, of: subject)
    }

    @Test(arguments: Subject.all)
    func `Law 13: tasks and actors run on a context, and cancellation reaches waiting jobs`(
        _ subject: Subject
    ) async {
        await expect(13, of: subject)
    }

    /// A debug build tests every third subject.
    @Test(
        arguments: stride(from: 0, to: Subject.viewsOfViews.count, by: rounds(debug: 3, release: 1))
            .map {
                Subject.viewsOfViews[$0]
            })
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
