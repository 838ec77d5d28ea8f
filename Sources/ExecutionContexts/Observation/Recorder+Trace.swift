internal import Foundation

extension Recorder {
    /// What there is as a trace in the format of Chrome and Perfetto, as JSON text.
    ///
    /// Each time is a process, so mostly there is one; each context is a thread of it, and one more for each row of
    /// pieces that run beside each other. A piece is a complete event with its facts as arguments, a hop from one
    /// piece to what it submitted a flow. Moments are in microseconds, from the first of their time.
    public func traceJSON() -> String { recording.trace }

    /// Writes `traceJSON()` to a file, whole or not at all.
    public func writeTrace(to path: String) throws {
        try traceJSON().write(toFile: path, atomically: true, encoding: .utf8)
    }
}

extension Recording {
    var trace: String {
        var events = processes + threads
        for place in pieces.indices {
            events += complete(place)
            events += flow(place)
        }
        return
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":\(overwritten)},\"traceEvents\":[\n"
            + events.joined(separator: ",\n") + "\n]}\n"
    }

    private var processes: [String] {
        spans.indices.map { clock in
            let name = spans.count == 1 ? "contexts" : "contexts in time \(clock + 1)"
            return metadata("process_name", pid: clock + 1, tid: 0, "\"name\":\(JSONText.quoted(name))")
        }
    }

    private var threads: [String] {
        lanes.indices.flatMap { lane in
            (0..<lanes[lane].rows).flatMap { row in
                let name = lanes[lane].name + (row == 0 ? "" : " · \(row + 1)")
                let (pid, tid) = (lanes[lane].clock + 1, thread(lane, row))
                return [
                    metadata("thread_name", pid: pid, tid: tid, "\"name\":\(JSONText.quoted(name))"),
                    metadata("thread_sort_index", pid: pid, tid: tid, "\"sort_index\":\(tid)"),
                ]
            }
        }
    }

    private func metadata(_ name: String, pid: Int, tid: Int, _ arguments: String) -> String {
        "{\"ph\":\"M\",\"name\":\"\(name)\",\"pid\":\(pid),\"tid\":\(tid),\"args\":{\(arguments)}}"
    }

    private func thread(_ lane: Int, _ row: Int) -> Int { lane * Self.rowLimit + row + 1 }

    /// Microseconds since the first moment of the lane's time.
    private func stamp(_ moment: Moment, _ lane: Int) -> String {
        JSONText.microseconds(moment.nanoseconds - spans[lanes[lane].clock].lowerBound)
    }

    private func place(_ piece: Piece) -> String {
        "\"pid\":\(lanes[piece.lane].clock + 1),\"tid\":\(thread(piece.lane, piece.row))"
    }

    private func complete(_ index: Int) -> [String] {
        let piece = pieces[index]
        let facts = piece.facts
        guard let started = facts.started else { return [] }
        let last = Moment(nanoseconds: spans[lanes[piece.lane].clock].upperBound)
        let length = started.duration(to: facts.ended ?? last).saturatedNanoseconds
        var arguments = [
            "\"view\":\(facts.id.view)", "\"piece\":\(facts.id.piece)", "\"thread\":\(facts.thread)",
            "\"state\":\"\(facts.state.rawValue)\"",
            "\"waited_us\":\(JSONText.microseconds(facts.waited?.saturatedNanoseconds ?? 0))",
        ]
        if let behind = piece.behind { arguments.append("\"behind\":\(JSONText.quoted(label(behind)))") }
        if let submitter = piece.submitter {
            arguments.append("\"submitted_by\":\(JSONText.quoted(label(submitter)))")
        }
        let name = JSONText.quoted(label(index))
        return [
            "{\"ph\":\"X\",\"cat\":\"\(facts.isAsync ? "async" : "piece")\",\"name\":\(name),\(place(piece)),"
                + "\"ts\":\(stamp(started, piece.lane)),\"dur\":\(JSONText.microseconds(length)),"
                + "\"args\":{\(arguments.joined(separator: ","))}}"
        ]
    }

    /// The arrow from the submitter to this piece, if both are in one time and ran.
    private func flow(_ index: Int) -> [String] {
        let piece = pieces[index]
        guard let started = piece.facts.started, let submitter = submitterInTime(of: piece) else { return [] }
        let shared = "\"cat\":\"hop\",\"name\":\"submits\",\"id\":\(index + 1)"
        return [
            "{\"ph\":\"s\",\(shared),\(place(submitter)),\"ts\":\(stamp(piece.facts.enqueued, piece.lane))}",
            "{\"ph\":\"f\",\"bp\":\"e\",\(shared),\(place(piece)),\"ts\":\(stamp(started, piece.lane))}",
        ]
    }

    /// Who submitted a piece, unless it is in another time, where it cannot be said how far away it is.
    func submitterInTime(of piece: Piece) -> Piece? {
        guard let submitter = piece.submitter.map({ pieces[$0] }), submitter.facts.started != nil,
            lanes[submitter.lane].clock == lanes[piece.lane].clock
        else { return nil }
        return submitter
    }

    /// What a piece is called.
    func label(_ index: Int) -> String {
        pieces[index].facts.isAsync
            ? pieces[index].facts.context : "\(pieces[index].facts.context) #\(pieces[index].facts.id.piece)"
    }
}
