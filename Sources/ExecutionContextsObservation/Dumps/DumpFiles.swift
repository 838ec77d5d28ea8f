internal import ExecutionContexts
internal import Foundation

/// The files of a recorder's dumps: their names, and how many are kept.
///
/// Other recorders may write to the same folder, also those of a process in another container with
/// the same number. So a dump creates its file before it writes, and takes the next name if the
/// file exists.
final class DumpFiles: Sendable {
    private let recorder: Recorder
    private let folder: String
    private let window: Duration
    private let limit: Int
    /// The written paths, the oldest first, and how many files were ever written.
    private let written = LockedResource((paths: [String](), count: 0), lockedBy: .section)

    init(of recorder: Recorder, in folder: String, last window: Duration, keeping limit: Int) throws
    {
        self.recorder = recorder
        self.folder = folder
        self.window = window
        self.limit = limit
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
    }

    /// Writes the latest events to a file, and returns its path.
    func write(_ reason: String) throws -> String {
        let page = TimelinePage(recording: recorder.recording(last: window), title: reason).html
        let path = try createFile()
        try page.write(toFile: path, atomically: true, encoding: .utf8)
        let oldest = written.mutate { [limit] written in
            written.paths.append(path)
            return written.paths.count > limit ? written.paths.removeFirst() : nil
        }
        if let oldest { try? FileManager.default.removeItem(atPath: oldest) }
        return path
    }

    /// Creates an empty file, and returns its path.
    private func createFile() throws -> String {
        let process = ProcessInfo.processInfo.processIdentifier
        while true {
            let number = written.mutate { written in
                written.count += 1
                return written.count
            }
            let path = "\(folder)/timeline-\(process)-\(number).html"
            do {
                try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
                return path
            } catch CocoaError.fileWriteFileExists {}
        }
    }
}

extension Recorder {
    /// The recording of the events since `window` before the latest one, of each time source.
    func recording(last window: Duration) -> Recording {
        let (entries, lanes, labels, overwritten) = snapshot
        var latest: [ObjectIdentifier: Int64] = [:]
        for entry in entries {
            let source = lanes[Int(entry.lane)].timeSource
            latest[source] = max(latest[source] ?? .min, entry.moment)
        }
        let length = ContextInstant(nanoseconds: 0).advanced(by: window).nanoseconds
        let kept = entries.filter { entry in
            let (start, isBefore) = latest[lanes[Int(entry.lane)].timeSource]!
                .subtractingReportingOverflow(length)
            return isBefore || entry.moment >= start
        }
        return Recording(
            kept, lanes: lanes, labels: labels,
            overwritten: overwritten + entries.count - kept.count)
    }
}
