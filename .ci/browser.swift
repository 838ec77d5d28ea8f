// Run by .ci/browser, in one of two ways:
// steps FILE PICTURES: performs the steps of the file on pages, and reports those that fail.
//     A browser reads its commands from descriptor 3 and answers to descriptor 4. The served
//     program ends when descriptor 5 is closed.
// packets FILE, json FILE: prints what both formats of a trace are to have, each fact on a line.
import Foundation

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
/// Nothing can be done without the browser.
func lose(_ text: String) -> Never {
    say("timeline: the browser \(text)")
    exit(2)
}
/// What the later steps on a page need did not come about.
struct Failure: Error { var text: String }

/// A browser and the page that it shows.
final class Browser {
    private let pictures: String
    private var rest = Data()
    private var number = 0
    private var page = ""
    private var session: String?
    private var profile: String?
    private var isBroken = false
    private var kept: [String: String] = [:]
    private(set) var complaints = 0
    private var earlier = 0

    init(pictures: String) { self.pictures = pictures }

    private func complain(_ text: String) {
        say("timeline: \(page): \(text)")
        complaints += 1
    }

    // MARK: - Commands and answers, each of which ends in a zero

    @discardableResult
    private func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        number += 1
        var message: [String: Any] = ["id": number, "method": method, "params": parameters]
        message["sessionId"] = session
        let command = try JSONSerialization.data(withJSONObject: message) + [0]
        do { try FileHandle(fileDescriptor: 3).write(contentsOf: command) } catch {
            lose("has ended, before \(method)")
        }
        while true {
            let object = try JSONSerialization.jsonObject(with: next(method))
            let answer = object as? [String: Any] ?? [:]
            guard answer["id"] as? Int == number else { continue }
            if let result = answer["result"] as? [String: Any] { return result }
            throw Failure(text: "the browser cannot \(method): \(answer["error"] ?? "no reason")")
        }
    }
    private func next(_ method: String) -> Data {
        while true {
            if let end = rest.firstIndex(of: 0) {
                defer { rest = Data(rest[(end + 1)...]) }
                return rest[..<end]
            }
            var awaited = pollfd(fd: 4, events: Int16(POLLIN), revents: 0)
            if poll(&awaited, 1, 300_000) == 0 { lose("does not answer to \(method) in 300 s") }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(4, &bytes, bytes.count)
            if count <= 0 { lose("has ended, during \(method)") }
            rest += bytes[..<count]
        }
    }

    // MARK: - What a person does

    /// Opens a page in a profile of its own.
    private func begin(_ name: String) throws {
        (page, isBroken, earlier) = (name, false, complaints)
        profile = try call("Target.createBrowserContext")["browserContextId"] as? String
        let page = ["url": "about:blank", "browserContextId": profile ?? ""]
        let target = try call("Target.createTarget", page)["targetId"] ?? ""
        let attached = try call("Target.attachToTarget", ["targetId": target, "flatten": true])
        session = attached["sessionId"] as? String
        try call("Page.enable")
    }
    func finish() throws {
        guard session != nil else { return }
        do {
            if !isBroken { try settle() }
            if !isBroken, let error = try js("document.documentElement.dataset.error") {
                complain("the page stopped with an error: \(error)")
            }
        } catch let failure as Failure { complain(failure.text) }
        if complaints == earlier { say("\(page): passed") }
        session = nil
        try call("Target.disposeBrowserContext", ["browserContextId": profile ?? ""])
    }
    private func open(_ address: String) throws {
        try call("Page.navigate", ["url": "about:blank"])
        let error = try call("Page.navigate", ["url": address])["errorText"]
        if let error { throw Failure(text: "\(address) does not open: \(error)") }
    }
    @discardableResult
    private func js(_ code: String) throws -> Any? {
        let parameters: [String: Any] = [
            "expression": code, "returnByValue": true, "awaitPromise": true,
        ]
        let found = try call("Runtime.evaluate", parameters)
        if let details = found["exceptionDetails"] as? [String: Any] {
            let exception = details["exception"] as? [String: Any]
            throw Failure(text: "\(code): \(exception?["description"] ?? details)")
        }
        return (found["result"] as? [String: Any])?["value"]
    }
    /// Waits for what takes at most 5 s on a quiet machine.
    private func until(_ what: String, _ code: String) throws {
        let end = ContinuousClock.now + .seconds(60)
        let error = "document.documentElement.dataset.error"
        while ContinuousClock.now < end {
            let state = try js("document.readyState === 'complete' && (\(error) || !!(\(code)))")
            if state as? Bool == true { return }
            if let error = state as? String {
                throw Failure(
                    text: "not yet: \(what), and the page stopped with an error: \(error)")
            }
            usleep(50_000)
        }
        throw Failure(text: "not in 60 s: \(what): \(code)")
    }
    private func mouse(_ kind: String, _ x: Double, _ y: Double, held: Int, keys: Int) throws {
        let button = kind != "mouseMoved" || held > 0 ? "left" : "none"
        let parameters: [String: Any] = [
            "type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": 1,
            "modifiers": keys,
        ]
        try call("Input.dispatchMouseEvent", parameters)
    }
    /// Clicks in the middle of an element, or at a spot, or drags with the shift key along a line.
    private func click(_ code: String) throws {
        let spot = """
            (function () { const e = \(code); if (!e || Array.isArray(e)) return e;
                e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();
                return [r.left + r.width / 2, r.top + r.height / 2]; })()
            """
        guard let spot = try js(spot) as? [Double], spot.count > 1 else {
            throw Failure(text: "there is no \(code)")
        }
        let shift = spot.count > 2 ? 8 : 0
        try mouse("mouseMoved", spot[0], spot[1], held: 0, keys: shift)
        try mouse("mousePressed", spot[0], spot[1], held: 1, keys: shift)
        for x in spot.dropFirst(2) { try mouse("mouseMoved", x, spot[1], held: 1, keys: shift) }
        // As long as a finger takes: a page that follows a program draws meanwhile.
        usleep(250_000)
        try mouse(
            "mouseReleased", spot.count > 2 ? spot.last! : spot[0], spot[1], held: 0, keys: shift)
    }
    private func settle() throws {
        // The timers of a page take 100 ms at most, and then it draws.
        let drawn = "requestAnimationFrame(() => requestAnimationFrame(() => done(true)))"
        try js("new Promise(done => setTimeout(() => \(drawn), 150))")
    }
    private func picture(_ name: String) throws {
        try settle()
        let data = try call("Page.captureScreenshot")["data"] as? String ?? ""
        let file = URL(fileURLWithPath: "\(pictures)/\(name).png")
        try (Data(base64Encoded: data) ?? Data()).write(to: file, options: .atomic)
    }

    // MARK: - Steps

    /// A step is a word and what it needs; `@name` stands for what `keep name: CODE` has found.
    func perform(_ step: String) throws {
        let line = kept.reduce(step) { $0.replacingOccurrences(of: "@" + $1.key, with: $1.value) }
        guard let space = line.firstIndex(of: " "), !line.hasPrefix("#") else { return }
        let (word, text) = (String(line[..<space]), String(line[space...].dropFirst()))
        let parts = text.split(separator: ": ", maxSplits: 1).map(String.init)
        let (claim, code) = (parts.first ?? "", parts.last ?? "")
        do {
            if word == "page" {
                try finish()
                try begin(text)
            } else if !isBroken || word == "close" {
                try perform(word, text, claim, code)
            }
        } catch let failure as Failure {
            complain("\(failure.text); the later steps of the page in .ci/browser are left out")
            isBroken = true
            if (try? picture("timeline-failed")) != nil {
                say("    see .build/timeline-failed.png")
            }
        }
    }
    private func perform(_ word: String, _ text: String, _ claim: String, _ code: String) throws {
        switch word {
        case "open": try open(text)
        case "size":
            let numbers = text.split(separator: " ").map { Int($0) ?? 0 }
            try call(
                "Emulation.setDeviceMetricsOverride",
                [
                    "width": numbers[0], "height": numbers[1], "deviceScaleFactor": 1,
                    "mobile": numbers.count > 2,
                ])
        case "colours":
            let features = [["name": "prefers-color-scheme", "value": text]]
            try call("Emulation.setEmulatedMedia", ["features": features])
        case "until": try until(claim, code)
        case "expect": if try js("!!(\(code))") as? Bool != true { complain("not so: \(text)") }
        case "say": say("\(page): \(try js(text) ?? "nothing")")
        case "do": try js("\(text); 0")
        case "keep": kept[claim] = "\(try js(code) ?? "nothing")"
        case "click", "drag": try click(text)
        case "key":
            let typed = text.count == 1 ? ["text": text] : [:]
            let down = ["type": "keyDown", "key": text].merging(typed) { $1 }
            try call("Input.dispatchKeyEvent", down)
            try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": text])
        case "type": try call("Input.insertText", ["text": text])
        case "picture": try picture(text)
        case "close": close(Int32(text) ?? 5)
        default: throw Failure(text: "there is no step '\(word)'")
        }
    }
}

// MARK: - Traces

func facts(json: Data) throws -> [String] {
    struct File: Decodable { var traceEvents: [Event] }
    struct Counts: Decodable { var jobs: Int? }
    struct Event: Decodable {
        var ph: String
        var ts, dur: Double?
        var name, cat: String?
        var id: Int?
        var args: Counts?
    }
    func nanoseconds(_ value: Double) -> Int { Int((value * 1000).rounded(.toNearestOrEven)) }
    var begun: [String: Int] = [:]
    return try JSONDecoder().decode(File.self, from: json).traceEvents.flatMap { event in
        let key = "\(event.cat ?? "") \(event.id ?? 0) \(event.name ?? "")"
        let time = event.ts ?? 0
        let (start, end) = (nanoseconds(time), nanoseconds(time + (event.dur ?? 0)))
        switch event.ph {
        case "X": return ["slice on a thread from \(start) to \(end)"]
        case "b":
            return begun.updateValue(start, forKey: key).map { _ in ["\(key) begins twice"] } ?? []
        case "e":
            guard let from = begun.removeValue(forKey: key) else { return ["\(key) only ends"] }
            return ["slice from \(from) to \(start)"]
        case "s": return ["arrow \(event.id ?? 0) starts", "arrow \(event.id ?? 0) ends"]
        case "C": return ["count of \(event.args?.jobs ?? 0) at \(start)"]
        default: return []
        }
    }
}

/// Each line is a kind, a time and a track, then what its kind has.
func facts(packets: String) -> [String] {
    var names: Set<Substring> = []
    var places: [Substring: String] = [:]
    var open: [Substring: [Substring]] = [:]
    var facts: [String] = []
    for words in packets.split(separator: "\n").map({ $0.split(separator: " ") }) {
        let (kind, time, track) = (words[0], words[1], words[2])
        switch kind {
        case "unknown": facts.append("\(time) has field \(track), which Perfetto's schema has not")
        case "name": names.insert(track)
        case "track": places[track] = words[3] == "True" ? " on a thread" : ""
        case _ where places[track] == nil: facts.append("event at \(time) on no known track")
        case "TYPE_SLICE_BEGIN":
            if !names.contains(words[3]) { facts.append("slice at \(time) has no name") }
            open[track, default: []].append(time)
            facts += words[5...].map { "arrow " + $0.replacingOccurrences(of: ":", with: " ") }
        case "TYPE_SLICE_END":
            let start = open[track]?.popLast() ?? "nowhere"
            facts.append("slice\(places[track]!) from \(start) to \(time)")
        case "TYPE_COUNTER": facts.append("count of \(words[4]) at \(time)")
        default: facts.append("event at \(time) is a \(kind)")
        }
    }
    return facts + open.values.joined().map { "slice from \($0) does not end" }
}

// MARK: -

signal(SIGPIPE, SIG_IGN)
let arguments = CommandLine.arguments
let file = try Data(contentsOf: URL(fileURLWithPath: arguments[2]))
let text = String(decoding: file, as: UTF8.self)
switch arguments[1] {
case "json": for fact in try facts(json: file) { print(fact) }
case "packets": for fact in facts(packets: text) { print(fact) }
default:
    let browser = Browser(pictures: arguments[3])
    for step in text.components(separatedBy: "\n") { try browser.perform(step) }
    try browser.finish()
    exit(browser.complaints == 0 ? 0 : 1)
}
