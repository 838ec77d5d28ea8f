internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// A recording as a trace in Perfetto's own format: a message for each event.
///
/// Names are written once and then referred to by number, and instants are differences. So a job
/// takes a third of its bytes in JSON.
struct PerfettoTrace {
    private typealias Schema = PerfettoSchema

    private let recording: Recording
    private let tracks: PerfettoTracks
    /// The jobs that each job submitted and that have an arrow.
    private var submitted: [Int: [Int]] = [:]
    private var isSubmitted: Set<Int> = []
    private var names: [String: UInt64] = [:]
    private var trace = ProtobufBytes()

    init(_ recording: Recording) {
        self.recording = recording
        let parts = TraceParts(recording)
        tracks = PerfettoTracks(recording, parts)
        for hop in parts.hops {
            submitted[hop.submitter, default: []].append(hop.job)
            isSubmitted.insert(hop.job)
        }
        addStart()
        for number in tracks.all.indices { add(track: number) }
        var last: Int64 = 0
        for event in tracks.events {
            add(event, after: event.instant - last)
            last = event.instant
        }
    }

    var bytes: [UInt8] { trace.bytes }

    // MARK: - Before the events

    /// A clock whose readings are differences; the format requires a number between 64 and 127.
    private static var clock: UInt64 { 64 }
    /// The clock in which a trace is shown by default.
    private static var bootTime: UInt64 { 6 }
    private static var annotations: [String] { ["job", "waited_ns", "behind_job", "is_running"] }

    /// Adds the packet that the others refer to: the clock, and the names of the annotations.
    private mutating func addStart() {
        addPacket(isFirst: true) { packet in
            packet.add(Schema.Packet.clockSnapshot) { snapshot in
                snapshot.add(Schema.Snapshot.clocks) { clock in
                    clock.add(Schema.Clock.id, Self.bootTime)
                    clock.add(Schema.Clock.timestamp, 0)
                }
                snapshot.add(Schema.Snapshot.clocks) { clock in
                    clock.add(Schema.Clock.id, Self.clock)
                    clock.add(Schema.Clock.timestamp, 0)
                    clock.add(Schema.Clock.isIncremental, 1)
                }
            }
            packet.add(Schema.Packet.tracePacketDefaults) {
                $0.add(Schema.Defaults.timestampClockID, Self.clock)
            }
            packet.add(Schema.Packet.internedData) { interned in
                for (index, name) in Self.annotations.enumerated() {
                    interned.add(Schema.Interned.debugAnnotationNames) {
                        $0.add(Schema.Name.number, UInt64(index + 1))
                        $0.add(Schema.Name.text, name)
                    }
                }
            }
        }
    }

    private mutating func add(track number: Int) {
        let track = tracks.all[number]
        let recording = recording
        addPacket { packet in
            packet.add(Schema.Packet.trackDescriptor) { descriptor in
                descriptor.add(Schema.Track.uuid, Self.uuid(number))
                if track.kind != .process {
                    // The processes are the first tracks, in the order of their clocks.
                    descriptor.add(Schema.Track.parentUUID, Self.uuid(track.clock))
                }
                let process = UInt64(track.clock + 1)
                switch track.kind {
                case .process:
                    descriptor.add(Schema.Track.process) {
                        $0.add(Schema.Process.pid, process)
                        let lost = recording.overwritten
                        let more = lost == 0 ? "" : ", \(lost) earlier events overwritten"
                        $0.add(Schema.Process.name, recording.name(ofClock: track.clock) + more)
                    }
                case .thread(let thread):
                    descriptor.add(Schema.Track.thread) {
                        $0.add(Schema.Thread.pid, process)
                        $0.add(Schema.Thread.tid, UInt64(thread))
                        $0.add(Schema.Thread.name, "thread \(thread)")
                    }
                case .run(let lane, _):
                    descriptor.add(Schema.Track.name, recording.lanes[lane].name)
                case .wait(let lane, _):
                    descriptor.add(Schema.Track.name, "\(recording.lanes[lane].name) waits")
                case .counter(let lane):
                    descriptor.add(Schema.Track.name, "\(recording.lanes[lane].name) waiting")
                    descriptor.add(Schema.Track.counter) { $0.add(Schema.Counter.unitName, "jobs") }
                }
            }
        }
    }

    /// Zero is the format's own track.
    private static func uuid(_ track: Int) -> UInt64 { UInt64(track + 1) }

    private mutating func addPacket(isFirst: Bool = false, _ build: (inout ProtobufBytes) -> Void) {
        trace.add(Schema.Trace.packet) { packet in
            packet.add(Schema.Packet.trustedPacketSequenceID, 1)
            // The first packet clears the state; each further one needs the state of the earlier
            // ones.
            packet.add(Schema.Packet.sequenceFlags, isFirst ? 1 : 2)
            build(&packet)
        }
    }

    // MARK: - Events

    private mutating func add(_ event: PerfettoTracks.Event, after difference: Int64) {
        let name = name(of: event)
        let number = name.map { names[$0] ?? UInt64(names.count + 1) }
        let isNew = name.map { names[$0] == nil } ?? false
        if let name { names[name] = number }
        let (isSubmitted, submitted) = (isSubmitted, submitted)
        let facts = facts(of: event)
        addPacket { packet in
            packet.add(Schema.Packet.timestamp, UInt64(clamping: difference))
            if isNew, let name, let number {
                packet.add(Schema.Packet.internedData) {
                    $0.add(Schema.Interned.eventNames) {
                        $0.add(Schema.Name.number, number)
                        $0.add(Schema.Name.text, name)
                    }
                }
            }
            packet.add(Schema.Packet.trackEvent) { fields in
                fields.add(Schema.Event.trackUUID, Self.uuid(event.track))
                switch event.step {
                case .begin(let job, let isWait):
                    fields.add(Schema.Event.type, Schema.EventType.sliceBegin)
                    if let number { fields.add(Schema.Event.nameNumber, number) }
                    for (annotation, value) in facts {
                        fields.add(Schema.Event.debugAnnotations) {
                            $0.add(Schema.Annotation.nameNumber, annotation)
                            $0.add(Schema.Annotation.unsigned, value)
                        }
                    }
                    guard !isWait else { return }
                    for other in submitted[job] ?? [] {
                        fields.add(Schema.Event.flows, fixed: UInt64(other + 1))
                    }
                    if isSubmitted.contains(job) {
                        fields.add(Schema.Event.terminatingFlows, fixed: UInt64(job + 1))
                    }
                case .end:
                    fields.add(Schema.Event.type, Schema.EventType.sliceEnd)
                case .count(let count):
                    fields.add(Schema.Event.type, Schema.EventType.counter)
                    fields.add(Schema.Event.counterValue, signed: Int64(count))
                }
            }
        }
    }

    /// The name of a slice. The job's number is an annotation, so that many slices share few names.
    private func name(of event: PerfettoTracks.Event) -> String? {
        guard case .begin(let index, let isWait) = event.step else { return nil }
        let facts = recording.jobs[index].facts
        if isWait { return "\(facts.context) waits" }
        guard !facts.isAsync, let title = facts.source.title else { return facts.context }
        return "\(facts.context): \(title)"
    }

    /// The annotations of a slice: the number of one of `annotations`, and its value.
    private func facts(of event: PerfettoTracks.Event) -> [(UInt64, UInt64)] {
        guard case .begin(let index, let isWait) = event.step else { return [] }
        let job = recording.jobs[index]
        var facts: [(UInt64, UInt64)] = [(1, UInt64(job.facts.id.job))]
        if isWait {
            if let behind = job.behind {
                facts.append((3, UInt64(recording.jobs[behind].facts.id.job)))
            }
            return facts
        }
        if let waited = job.facts.waited?.nanoseconds, waited > 0 {
            facts.append((2, UInt64(waited)))
        }
        if job.facts.state == .running { facts.append((4, 1)) }
        return facts
    }
}
