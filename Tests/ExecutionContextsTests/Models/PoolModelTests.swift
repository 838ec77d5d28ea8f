import TestSupport
import Testing

/// Every run of a pool's workers, which start and go idle, ends with all jobs run.
@Suite(.patient)
struct PoolModelTests {
    private static let small = [
        PoolModel(), PoolModel(submitters: 1, each: 3), PoolModel(submitters: 2, workers: 3),
        PoolModel(submitters: 1, each: 3, announcesWait: true),
        PoolModel(submitters: 1, workers: 3, width: 1, each: 3, announcesWait: true),
    ]
    private static let large = [
        PoolModel(submitters: 3), PoolModel(width: 1, each: 2, announcesWait: true),
    ]

    @Test(arguments: small + large.prefix(rounds(debug: 0, release: 2)))
    func `Law 1: in no order of steps is a job left that a worker could run`(_ model: PoolModel)
        async
    {
        let result = await model.explored()
        #expect(result.failure == nil, "\(result.failure?.trace ?? [])")
        #expect(result.states > 100)
    }

    @Test(arguments: PoolModel.Omission.allCases)
    func `Law 1: without any one step, some order leaves a job`(_ omission: PoolModel.Omission)
        async
    {
        var isFound = false
        let models = [
            PoolModel(width: 1, announcesWait: true, omission: omission),
            PoolModel(omission: omission),
            PoolModel(submitters: 1, each: 3, announcesWait: true, omission: omission),
        ]
        for model in models where !isFound {
            isFound = await model.explored().failure != nil
        }
        #expect(isFound)
    }
}
