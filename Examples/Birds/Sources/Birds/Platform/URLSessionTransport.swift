import ExecutionContexts
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests over HTTP, and answers on a context that it may share with others.
///
/// It is in this folder because of its imports: `URLSession` is part of Foundation on some systems
/// only.
final class URLSessionTransport: Transport {
    private let base: URL
    private let session: URLSession

    /// A transport to the server at `base`, whose session calls back on `context`.
    ///
    /// A session calls back in order, so the context is serial. The session waits for data from the
    /// server for at most `patience`, in real time: a session has no other time.
    init(base: URL, on context: some SerialContext, patience: Duration = .seconds(60)) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = patience / .seconds(1)
        session = URLSession(
            configuration: configuration, delegate: nil, delegateQueue: context.operationQueue)
    }

    // A session lives until it is invalidated. Requests in flight are completed.
    deinit { session.finishTasksAndInvalidate() }

    func get(_ path: String) -> Async<Data> {
        Async.fromCallback { done, onCancel in
            guard let url = URL(string: path, relativeTo: base) else {
                throw BirdError.badPath(path)
            }
            let task = session.dataTask(with: url) { data, response, error in
                done(Result { try Self.body(of: response, data, error, path) })
            }
            // The session always calls back, so this closure is released when the task ends.
            onCancel { task.cancel() }
            task.resume()
        }
    }

    private static func body(
        of response: URLResponse?, _ data: Data?, _ error: (any Error)?, _ path: String
    ) throws -> Data {
        if let error { throw error }
        guard let data, let response = response as? HTTPURLResponse else {
            throw BirdError.unreadable(path)
        }
        guard response.statusCode == 200 else {
            throw BirdError.status(response.statusCode, path: path)
        }
        return data
    }
}
