import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

@testable import ExecutionContextsObservation

/// What clients of a live timeline are told, fast ones and slow ones.
struct LiveFeedTests {
    @Test func `A client gets what was recorded, and then what happens, once each and in order`()
        throws
    {
        let recorder = Recorder()
        let view = ImmediateContext().named("work").observed(by: recorder)
        view.execute {}
        let live = try recorder.serve()
        let stream = try LiveTestStream(try LiveAddress(live.address))
        let message = try stream.first { $0["events"] != nil }
        #expect(message["first"] as? Bool == true)
        #expect((message["lanes"] as? [[Any]])?.first?.first as? String == "work")
        #expect((message["events"] as? [[Int]])?.map { $0[0] } == [0, 1, 2])
        let title = "LiveFeedTests.swift:\(#line - 7)"
        #expect(message["titles"] as? [String] == [title])
        #expect((message["events"] as? [[Int]])?.map { $0[12] } == [1, 0, 0])
        for _ in 0..<2_000 { view.labeled("more").execute {} }
        let events = try stream.events(6_000)
        #expect(events.map { $0[3] } == (2...2_001).flatMap { [$0, $0, $0] })
        #expect(events.allSatisfy { $0.count == 13 && $0[12] == ($0[0] == 0 ? 2 : 0) })
        live.stop()
    }

    @Test func `A stall shows while it lasts`() throws {
        let recorder = Recorder()
        let serial = GlobalContext().serial(named: "database").observed(by: recorder)
        let live = try recorder.serve()
        let stream = try LiveTestStream(try LiveAddress(live.address))
        let open = DispatchSemaphore(value: 0)
        serial.execute { open.wait() }
        // The job has begun and not ended, and the time goes on.
        #expect(try stream.events(2).map { $0[0] } == [0, 1])
        func now(_ message: [String: Any]) -> Int { (message["now"] as? [Int])?.first ?? 0 }
        let first = now(try stream.first { now($0) > 0 })
        _ = try stream.first { now($0) > first }
        open.signal()
        #expect(try stream.events(1).map { $0[0] } == [2])
        live.stop()
    }

    @Test func `A client that takes nothing holds up neither the program nor other clients`() throws
    {
        let recorder = Recorder(capacity: 3_000)
        let view = ImmediateContext().named("work").observed(by: recorder)
        let (server, bell) = try LiveServer.listening(
            to: recorder, tick: .milliseconds(1), patience: Patience.event)
        let live = try LiveTimeline(server, bell: bell)
        let address = try LiveAddress(live.address)
        let slow = try LiveTestStream(address, buffer: 4_096)
        let fast = try LiveTestStream(address)
        #expect(try slow.next()?["first"] as? Bool == true)
        var last = 0
        // Several times what the system's buffers of its connection take.
        for round in 1...60 {
            for _ in 0..<1_000 { view.execute {} }
            while last < 1_000 * round {
                let events = try #require(try fast.next())["events"] as? [[Int]] ?? []
                last = events.last?[3] ?? last
            }
        }
        // What it missed is counted, and it gets the rest.
        var (missed, seen) = (0, 0)
        while seen < 60_000 {
            let message = try #require(try slow.next())
            missed += message["missed"] as? Int ?? 0
            seen = (message["events"] as? [[Int]])?.last?[3] ?? seen
        }
        #expect(missed > 0)
        live.stop()
    }

    @Test func `Ten clients get the same, and one that leaves is forgotten`() throws {
        let recorder = Recorder()
        let view = ImmediateContext().named("work").observed(by: recorder)
        let live = try recorder.serve()
        let address = try LiveAddress(live.address)
        var streams = try (0..<10).map { _ in try LiveTestStream(address) }
        for stream in streams { #expect(try stream.next() != nil) }
        streams.removeLast(5)
        view.execute {}
        for stream in streams { #expect(try stream.events(3).count == 3) }
        live.stop()
    }

    @Test func `Clearing and pausing the recorder show`() throws {
        let recorder = Recorder()
        let view = ImmediateContext().named("work").observed(by: recorder)
        let live = try recorder.serve()
        let stream = try LiveTestStream(try LiveAddress(live.address))
        #expect(try stream.next()?["first"] as? Bool == true)
        recorder.clear()
        _ = try stream.first { $0["first"] as? Bool == true }
        view.execute {}
        recorder.pause()
        _ = try stream.first { $0["paused"] as? Bool == true }
        live.stop()
    }

    @Test func `Counters are read without a lock, and one may even stop the timeline`() throws {
        let recorder = Recorder()
        let view = ImmediateContext().named("work").observed(by: recorder)
        let served = Box<LiveTimeline?>(nil)
        let live = try recorder.serve {
            view.execute {}
            recorder.clear()
            served.value?.stop()
            return ["images \"waiting\"": 7]
        }
        let stream = try LiveTestStream(try LiveAddress(live.address))
        let figures = try stream.first { $0["figures"] != nil }["figures"] as? [String: Int]
        #expect(figures?["images \"waiting\""] == 7)
        served.value = live
        while try stream.next() != nil {}
        live.stop()
    }

    @Test func `A slow request ends after the patience of the server, and idle clients give way`()
        throws
    {
        let (server, bell) = try LiveServer.listening(
            to: Recorder(), patience: .milliseconds(50))
        let live = try LiveTimeline(server, bell: bell)
        let address = try LiveAddress(live.address)
        let slow = try #require(LiveTestClient(port: address.port))
        slow.send("GET /")
        #expect(slow.receiveAll().isEmpty)
        live.stop()

        let patient = try Recorder().serve()
        let other = try LiveAddress(patient.address)
        let idle = (0..<40).map { _ in LiveTestClient(port: other.port) }
        #expect(try other.answer(to: other.request()).hasPrefix("HTTP/1.1 200 "))
        #expect(idle[0]?.receive() == nil)
        patient.stop()
    }

    @Test func `Noise is answered or dropped, and the timeline goes on`() async throws {
        let live = try Recorder().serve()
        let address = try LiveAddress(live.address)
        await offThePool {
            var random = SeededRNG(seed: 7)
            for _ in 0..<rounds(debug: 100, release: 300) {
                let client = LiveTestClient(port: address.port)
                let count = random.next(below: 12_000)
                client?.send((0..<count).map { _ in UInt8(random.next(below: 256)) })
                if random.next(below: 2) == 0 { client?.send("\r\n\r\n") }
                client?.endSending()
                let answer = client?.receiveAll() ?? ""
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
            }
            #expect((try? address.answer(to: address.request()))?.contains(" 200 OK") == true)
        }
        live.stop()
    }
}
