// What the snippets in doc comments take for granted.
import AsyncFunctions
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let url = URL(string: "https://example.org")!
let token = InvalidationToken()
let context = SerialQueueContext(name: "snippet")
let database = context
let query = "all"

struct Store0: Sendable { func fetch(_ query: String) throws -> [String] { [] } }
let store = Store0()

enum Request {
    @TaskLocal static var id = 0
    @TaskLocal static var user = ""
}

actor Index { func rebuild() {} }
let index = Index()

final class Counter: Sendable { func increment() {} }

struct Counting: ContextAddition {
    let counter: Counter
    func decorate(_ work: @escaping Work) -> Work {
        {
            counter.increment()
            work()
        }
    }
}

final class Loop: Sendable { func post(_ work: @escaping Work) { work() } }
let eventLoop = Loop()

final class Loader: NSObject, URLSessionDataDelegate, Sendable {
    func load(_ name: String, _ use: @escaping @Sendable (Data) -> Void) { use(Data()) }
    func image(of bird: Bird) -> Async<Data> { Async(.success(Data())) }
}
let loader = Loader()

struct Bird: Sendable, Hashable {
    static func list(from data: Data) throws -> [Bird] { [] }
}
let network = context
let birds: [Bird] = []
// Unchecked: the snippets guard it.
nonisolated(unsafe) var images: [Bird: Async<Data>] = [:]

struct Client: Sendable { func birds() async throws -> [Bird] { [] } }
let client = Client()

struct DataSource: Sendable { func getBirds() -> Async<[Bird]> { Async(.success([])) } }
let dataSource = DataSource()

final class Service: Sendable {
    let isStale = true
    init(on context: some ExecutionContext) {}
    func refresh() {}
}

final class Cache: Sendable { init(disk: some ExecutionContext) {} }

struct MyContext: ExecutionContext { func execute(_ work: @escaping Work) { work() } }

// Unchecked, both: the section and the coordinator of the snippets guard them.
nonisolated(unsafe) var counter = 0
// Unchecked: the snippets guard it.
final class Settings: @unchecked Sendable { var language = "" }
let settings = Settings()

let requestID = ThreadLocalValue<String>()
let formatter = ThreadLocalValue<DateFormatter> { _ in DateFormatter() }
let date = Date()

final class Account: Sendable {
    let balance = 0
    init(on context: some SerialContext) {}
    func withdraw(_ amount: Int) {}
}

let downloads = PrioritizedQueue(on: .global, limit: 4)
func decode(_ name: String) throws -> String { name }
func load(_ name: String, _ use: @escaping @Sendable (String) -> Void) { use(name) }

final class Session: Sendable {
    struct Request: Sendable { func cancel() {} }
    func load(_ url: URL, _ use: @escaping @Sendable (Data, (any Error)?) -> Void) -> Request {
        Request()
    }
}
let session = Session()
