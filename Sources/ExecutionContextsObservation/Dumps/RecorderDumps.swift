internal import ExecutionContexts
internal import ExecutionContextsDiagnostics
internal import Foundation

/// Writes a recorder's last seconds to a file when something goes wrong, until `stop()`.
///
/// ```swift
/// let recorder = Recorder()
/// let dumps = try recorder.dumps(to: "dumps", on: [.trap, .signal(SIGUSR1)])
/// let orders = GlobalContext().serial(named: "orders").observed(by: recorder)
///     .watched(limit: .seconds(1)) { stall in dumps.write("\(stall.context) stalls") }
/// orders.execute { print("recorded") }
/// dumps.stop()
/// ```
///
/// Each file is a timeline page for a browser. Between occasions there is no cost beyond the
/// recording itself.
public final class RecorderDumps: Sendable {
    /// When a dump is written automatically.
    public struct Occasion: Hashable, Sendable {
        /// The signal's number; zero for a trap.
        let number: Int32

        /// A trap of the library, with its message; not one of the language, such as an index that
        /// is out of range.
        public static let trap = Occasion(number: 0)

        /// A signal to the process, whose default action is replaced. `SIGUSR1` and `SIGUSR2` are
        /// for such uses.
        ///
        /// A signal that no process can receive, or that reports a faulty instruction, traps with a
        /// message.
        public static func signal(_ number: Int32) -> Occasion {
            // After a handler of one of the faults, the same instruction would run again, forever.
            let refused = [SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT]
            require(
                number > 0 && !refused.contains(number),
                "The signal \(number) cannot be the occasion of a dump. Use SIGUSR1 or SIGUSR2.")
            return Occasion(number: number)
        }
    }

    private let files: DumpFiles
    private let state: LockedResource<State>

    /// The registrations that `stop` removes.
    private struct State: Sendable {
        var trap: UInt64?
        var signals: [SignalReceiver] = []
    }

    init(_ files: DumpFiles, on occasions: Set<Occasion>) {
        self.files = files
        var state = State()
        if occasions.contains(.trap) {
            state.trap = TrapHandlers.add { message in
                if let path = try? files.write(message) {
                    FileHandle.standardError.write(Data("The last seconds are in \(path)\n".utf8))
                }
            }
        }
        for occasion in occasions where occasion != .trap {
            let receiver = SignalReceiver(occasion.number) {
                _ = try? files.write("signal \(occasion.number)")
            }
            require(
                receiver != nil,
                "The system does not allow this process to receive the signal \(occasion.number). Use SIGUSR1 or SIGUSR2."
            )
            if let receiver { state.signals.append(receiver) }
        }
        self.state = LockedResource(state, lockedBy: .section)
    }

    /// Writes a dump now, with the reason as its title, and returns the path of its file.
    ///
    /// It returns nil if the system refuses the file.
    @discardableResult
    public func write(_ reason: String) -> String? { try? files.write(reason) }

    /// Stops writing dumps. Signals have their previous actions again. The files stay.
    public func stop() {
        let old = state.mutate { state in
            defer { state = State() }
            return state
        }
        if let trap = old.trap { TrapHandlers.remove(trap) }
        for signal in old.signals { signal.stop() }
    }
}

extension Recorder {
    /// Writes the last `window` of this recording to a file in `folder` at each of the occasions,
    /// until the returned object's `stop()`; you need not keep it.
    ///
    /// Creates the folder if it is missing. Keeps at most `limit` files: it deletes the oldest one
    /// of this object.
    @discardableResult
    public func dumps(
        to folder: String, last window: Duration = .seconds(30), keeping limit: Int = 16,
        on occasions: Set<RecorderDumps.Occasion> = [.trap]
    ) throws -> RecorderDumps {
        require(limit > 0, "Dumps that keep \(limit) files keep nothing. Keep 1 or more.")
        require(window > .zero, "Dumps of the last \(window) show nothing. Pass a second or more.")
        return RecorderDumps(
            try DumpFiles(of: self, in: folder, last: window, keeping: limit), on: occasions)
    }
}
