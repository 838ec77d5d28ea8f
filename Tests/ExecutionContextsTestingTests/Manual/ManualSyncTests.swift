import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A thread that waits for a manual context, or for a view of it, drives it.
@Suite(.patient)
struct ManualSyncTests {
    @Test func `Law 27: a sync on a manual context runs the ready jobs, and then the body`() {
        let context = ManualContext()
        let log = Box<[Int]>([])
        context.execute { log.withValue { $0.append(1) } }
        let value = context.sync {
            log.withValue { $0.append(2) }
            context.execute { log.withValue { $0.append(3) } }
            return context.sync { 7 }
        }
        #expect(value == 7 && log.value == [1, 2])
        #expect(context.readyCount == 1 && context.isCurrent == false)
        context.runReady()
        #expect(log.value == [1, 2, 3])
    }

    @Test
    func
        `Law 27: a sync on a view of a manual context runs the jobs before it, and time stands still`()
        throws
    {
        struct Thrown: Error {}
        let context = ManualContext()
        let view = context.serial(named: "io")
        let log = Box<[String]>([])
        context.schedule(after: .seconds(1)) { log.withValue { $0.append("late") } }
        view.execute { log.withValue { $0.append("before") } }
        #expect(view.sync { context.isCurrent == true && view.isCurrent == true })
        #expect(throws: Thrown.self) { try view.sync { throw Thrown() } }
        view.execute { log.withValue { $0.append("held") } }
        view.hold().release()
        #expect(log.value == ["before", "held"] && context.now == ContextInstant(nanoseconds: 0))
        #expect(context.limited(to: 2).serial().sync { 1 } == 1)
        #expect(ReadWriteCoordinator(over: view).read { 2 } == 2)
        let property = TransactionWrapper(wrappedValue: 1, on: view)
        property.wrappedValue += 1
        #expect(property.wrappedValue == 2)
        context.advance(by: .seconds(1))
        #expect(log.value.last == "late")
        try context.finish()
    }

    @Test func `Law 27: a job that waits for another context of its time runs that context's jobs`()
    {
        let time = ManualTime()
        let (disk, net) = (
            ManualContext(name: "disk", time: time), ManualContext(name: "net", time: time)
        )
        let log = Box<[String]>([])
        net.execute { log.withValue { $0.append("net") } }
        disk.execute {
            let isBack = net.serial().sync {
                disk.isCurrent == true && net.isCurrent == true && disk.sync { true }
            }
            log.withValue {
                $0.append("disk \(isBack) \(disk.isCurrent == true) \(net.isCurrent == true)")
            }
        }
        disk.runReady()
        #expect(log.value == ["net", "disk true true false"])
    }

    @Test
    func `Law 27: of many threads that wait for a manual context one drives it, and all continue`()
        async
    {
        await watched {
            let context = ManualContext()
            let view = context.serial()
            let sum = Box(0)
            onThreads(4) { thread in
                for index in 0..<300 {
                    switch (thread + index) % 4 {
                    case 0: context.sync { sum.withValue { $0 += 1 } }
                    case 1: view.sync { sum.withValue { $0 += 1 } }
                    case 2:
                        let hold = view.hold()
                        sum.withValue { $0 += 1 }
                        hold.release()
                    default:
                        view.execute { sum.withValue { $0 += 1 } }
                        view.sync {}
                    }
                }
            }
            #expect(sum.value == 1200)
        }
    }

    @Test
    func `Law 27: the test drives a context while other threads wait for it, and all continue`()
        async
    {
        await watched {
            let context = ManualContext()
            let view = context.serial()
            let sum = Box(0)
            let isOver = Box(false)
            let driver = DispatchGroup()
            DispatchQueue(label: "test").async(group: driver) {
                while !isOver.value { context.advance(by: .milliseconds(1)) }
            }
            onThreads(3) { thread in
                for index in 0..<300 {
                    if (thread + index) % 2 == 0 {
                        context.sync { sum.withValue { $0 += 1 } }
                    } else {
                        view.sync { sum.withValue { $0 += 1 } }
                    }
                }
            }
            isOver.value = true
            driver.wait()
            #expect(sum.value == 900)
        }
    }
}
