import ExecutionContexts
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gets things over HTTP, and has its answers on a context that it shares with others.
///
/// It stands here for the sake of its imports: `URLSession` is a part of Foundation on some systems only.
final class URLSessionTransport: Transport {
    private let base: URL
    private let session: URLSession

    /// A transport to the server at `base`, whose session works and answers on `context`.
    ///
    /// A session calls back in order, so the context is a serial one. It waits for a sign of the server for at most
    /// `patience`, in the time of the system: a session knows no other.
    init(base: URL, on context: some SerialContext, patience: Duration = .seconds(60)) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = patience / .seconds(1)
        session = URLSession(
            configuration: configuration, delegate: nil, delegateQueue: context.operationQueue)
    }

    // A session lives until it is told to end. What is under way still ends.
    deinit { session.finishTasksAndInvalidate() }

    func get(_ path: String) -> Async<Data> {
        Async.fromCallback { done, onCancel in
            guard let url = URL(string: path, relativeTo: base) else { throw BirdError.badPath(path) }
            let task = session.dataTask(with: url) { data, response, error in
                done(Result { try Self.body(of: response, data, error, path) })
            }
            // The session calls back in any case, so this keeps the task no longer than it takes.
            onCancel { task.cancel() }
            task.resume()
        }
    }

    private static func body(
        of response: URLResponse?, _ data: Data?, _ error: (any Error)?, _ path: String
    ) throws -> Data {
        if let error { throw error }
        guard let data, let response = response as? HTTPURLResponse else { throw BirdError.unreadable(path) }
        guard response.statusCode == 200 else { throw BirdError.status(response.statusCode, path: path) }
        return data
    }
}
