import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Wrapped completion handlers that are called once, as they should be.
@Suite(.patient)
struct CallbackTests {
    @Test func `A handler gets its arguments on the context, for each number of arguments`() {
        let manual = ManualContext()
        let log = Box<[String]>([])
        let note: @Sendable (String) -> Void = { line in
            manual.preconditionIsCurrent()
            log.withValue { $0.append(line) }
        }
        manual.callback { note("none") }()
        manual.callback { note("one \($0)") }(1)
        manual.callback { note("two \($0) \($1)") }(1, "b")
        manual.callback { note("three \($0) \($1) \($2)") }(1, "b", [3.0])
        #expect(log.value.isEmpty)
        manual.runReady()
        #expect(log.value == ["none", "one 1", "two 1 b", "three 1 b [3.0]"])
    }

    @Test
    func `A wrapped handler fits where the handler did, and the closure's types are inferred`() {
        let manual = ManualContext()
        let log = Box<[String]>([])
        let loader = Loader()
        let context: any ExecutionContext = manual

        let load: @Sendable (Data?, Loader.Response?, (any Error)?) -> Void = context.callback {
            data, response, error in
            log.withValue {
                $0.append("\(data?.count ?? 0) \(response?.status ?? 0) \(error == nil)")
            }
        }
        loader.load(load)
        loader.load(
            context.callback { data, _, _ in
                guard let data else { return }
                log.withValue { $0.append("\(data.count)") }
            })
        loader.result(
            context.callback { result in log.withValue { $0.append((try? result.get()) ?? "") } })
        loader.plain(context.callback { value in log.withValue { $0.append(value) } })
        loader.pair(context.callback { pair in log.withValue { $0.append("\(pair.0) \(pair.1)") } })
        loader.finish(context.callback { log.withValue { $0.append("finished") } })
        loader.finish(
            context.callback {
                log.withValue { $0.append("finished") }
            } onFault: { fault in
                Issue.record("\(fault)")
            })
        manual.runReady()
        #expect(log.value == ["2 200 true", "2", "value", "plain", "1 2", "finished", "finished"])
    }

    @Test func `A service takes the context as some and stores it as any`() {
        let manual = ManualContext()
        let results = Box<[String]>([])
        @Sendable func append(_ text: String?, _ error: (any Error)?) {
            results.withValue { $0.append(text ?? "\(error!)") }
        }
        Service(on: manual).fetch(fails: false, completion: append)
        Service.fetch(on: manual, fails: true, completion: append)
        #expect(results.value.isEmpty)
        manual.runReady()
        #expect(results.value == ["text", "CancellationError()"])
    }

    @Test
    func `Law 5: on the immediate context the handler runs on the caller, before the call returns`()
    {
        let log = Box<[String]>([])
        let context: any ExecutionContext = .immediate
        let thread = ObjectIdentifier(Thread.current)
        let inner = context.callback { (word: String) in log.withValue { $0.append(word) } }
        let outer = context.callback {
            #expect(ObjectIdentifier(Thread.current) == thread)
            inner("inner")
            log.withValue { $0.append("outer") }
        }
        outer()
        log.withValue { $0.append("after") }
        #expect(log.value == ["inner", "outer", "after"])
    }

    @Test func `A class of the main actor may change its state in a handler on the main context`()
        async
    {
        let screen = Screen()
        await withCheckedContinuation { continuation in
            Task { await screen.load(then: { continuation.resume() }) }
        }
        #expect(await screen.log == ["birds 2", "result", "load 2", "done"])
    }

    @Test func `Law 8: on a propagating view, a handler has the task-local values of its wrapping`()
    {
        let manual = ManualContext()
        let view = manual.propagating(Request.$id)
        let seen = Box<[Int]>([])
        let note: @Sendable (Int) -> Void = { call in seen.withValue { $0 += [call, Request.id] } }
        let (propagating, plain) = Request.$id.withValue(7) {
            (view.callback(note), manual.callback(note))
        }
        Request.$id.withValue(9) {
            propagating(1)
            plain(2)
            view.serial().callback(note)(3)
        }
        manual.runReady()
        #expect(seen.value == [1, 7, 2, 0, 3, 9])
    }

    private enum Request {
        @TaskLocal static var id = 0
    }
}

/// Functions with completion handlers of every common kind.
private struct Loader {
    struct Response: Sendable { let status = 200 }

    func load(_ completion: @escaping @Sendable (Data?, Response?, (any Error)?) -> Void) {
        completion(Data([1, 2]), Response(), nil)
    }
    func result(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        completion(.success("value"))
    }
    // Not sendable, as in code from before Swift concurrency.
    func plain(_ completion: @escaping (String) -> Void) { completion("plain") }
    func pair(_ completion: @escaping @Sendable ((Int, Int)) -> Void) { completion((1, 2)) }
    func finish(_ completion: @escaping @Sendable () -> Void) { completion() }
}

/// A service that takes the context on which it calls back.
private struct Service {
    let context: any ExecutionContext

    init(on context: some ExecutionContext) { self.context = context }

    func fetch(fails: Bool, completion: @escaping @Sendable (String?, (any Error)?) -> Void) {
        answer(fails: fails, context.callback(completion))
    }

    static func fetch(
        on context: some ExecutionContext, fails: Bool,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        Service(on: context).answer(fails: fails, context.callback(completion))
    }

    private func answer(
        fails: Bool, _ completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        fails ? completion(nil, CancellationError()) : completion("text", nil)
    }
}

/// A class of the main actor whose completion handlers are called elsewhere.
@MainActor
private final class Screen {
    var log: [String] = []

    func load(then finish: @escaping @MainActor @Sendable () -> Void) {
        let main = MainContext()
        let show = main.callback { (birds: [String]) in self.log.append("birds \(birds.count)") }
        let result = main.callback { (result: Result<Int, any Error>) in self.append("result") }
        let load: @Sendable (Data?, Loader.Response?, (any Error)?) -> Void = main.callback {
            [weak self] data, _, _ in self?.log.append("load \(data?.count ?? 0)")
        }
        let end = main.callback {
            self.append("done")
            finish()
        }
        DispatchQueue.global().async {
            show(["owl", "jay"])
            result(.success(1))
            Loader().load(load)
            end()
        }
    }

    private func append(_ line: String) { log.append(line) }
}
