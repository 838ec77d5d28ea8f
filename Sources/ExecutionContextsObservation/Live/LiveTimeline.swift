internal import ExecutionContexts
internal import Foundation
internal import Synchronization

/// A timeline that a browser on this machine shows while the program runs: see `Recorder.serve`.
///
/// It is served until `stop()`, and at the latest until this value is released.
public final class LiveTimeline: Sendable {
    /// The address of the page, with a random token in its path: it is the key to the recording.
    public let address: String
    private let thread: SystemCalls.Thread
    /// The end of a pipe whose other end the server polls. The server closes both.
    private let bell: LiveSocket
    private let isStopped = Atomic<Bool>(false)
    /// The process that serves it. A forked child has its sockets, but not its thread.
    private let process = getpid()

    init(_ server: LiveServer, bell: LiveSocket) throws(Failure) {
        address = server.address
        self.bell = bell
        guard let thread = SystemCalls.Thread({ server.run() }) else {
            server.close()
            throw Failure(call: "pthread_create", reason: "The system has no thread left")
        }
        self.thread = thread
    }

    deinit { stop() }

    /// Ends all connections, and returns once the thread and the sockets of the timeline are gone.
    ///
    /// It waits for a running call of `counters`. A call from within `counters` does not wait, and
    /// neither does a second call. In a forked child it does nothing: the parent serves the
    /// timeline.
    public func stop() {
        guard process == getpid() else { return }
        // Relaxed: the pipe orders everything before this with the server's reaction.
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        bell.writeByte()
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    /// Why a timeline could not be served.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The system call that failed.
        public let call: String
        /// The system's description of the error.
        public let reason: String

        public var description: String {
            "The timeline cannot be served: \(call) failed. \(reason)."
        }
    }
}

extension Recorder {
    /// Serves the timeline of this recorder to browsers on this machine, while the program runs.
    ///
    /// ```swift
    /// let recorder = Recorder()
    /// let database = GlobalContext().serial(named: "database").observed(by: recorder)
    /// let live = try recorder.serve()
    /// print(live.address)              // open it in a browser
    /// ```
    ///
    /// The page is that of `timelineHTML`, updated continuously: it shows the last seconds, each
    /// job that has stalled, and `counters`. It can be paused, and it changes nothing in the
    /// program.
    ///
    /// - Only this machine can connect, and only with the random token in the address. Anything
    ///   else is refused.
    /// - One thread serves all browsers. It reads events at the pace of each browser, so a slow
    ///   browser misses events, and the program never waits for one.
    /// - Without a browser its cost is a sleeping thread. At most sixteen connect at a time.
    ///
    /// `counters` is called a few times a second, on the thread of the timeline, while a browser is
    /// connected. The page also counts the workers and the pending jobs of the shared pool, once it
    /// is used.
    ///
    /// Throws a `LiveTimeline.Failure` if the port is in use. By default the system chooses one.
    public func serve(
        port: UInt16 = 0, title: String = "Timeline",
        counters: @escaping @Sendable () -> [String: Int] = { [:] }
    ) throws -> LiveTimeline {
        let (server, bell) = try LiveServer.listening(
            to: self, port: port, title: title, counters: counters)
        return try LiveTimeline(server, bell: bell)
    }
}
