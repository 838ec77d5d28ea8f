import Foundation

/// The content of the server: birds, their pictures, and three paths that fail or take long.
struct BirdSite: Sendable {
    var names = ["wren", "robin", "dipper", "siskin", "nuthatch", "goldcrest"]

    /// How the server answers a request.
    enum Answer: Hashable, Sendable {
        case now(HTTPResponse)
        /// The response is sent after a delay.
        case later(HTTPResponse)
        /// The server disconnects in the middle of the response.
        case halfOf(HTTPResponse)
    }

    func answer(to request: HTTPRequest) -> Answer {
        guard request.method == "GET" else { return .now(.failure(405)) }
        switch request.path {
        case "/birds.json": return .now(list)
        case "/busy": return .now(.failure(503))
        case "/slow": return .later(list)
        case "/broken": return .halfOf(list)
        default: return .now(picture(at: request.path) ?? .failure(404))
        }
    }

    private var list: HTTPResponse {
        let entries = names.map { BirdEntry(name: $0, image: "/images/\($0)") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings can always be encoded.
        return .ok("application/json", (try? encoder.encode(entries)) ?? Data())
    }

    private func picture(at path: String) -> HTTPResponse? {
        guard path.hasPrefix("/images/") else { return nil }
        let name = String(path.dropFirst("/images/".count))
        return names.contains(name)
            ? .ok("image/x-portable-graymap", Self.picture(of: name).pgm) : nil
    }

    /// A pattern that depends on the name only, and is symmetric, as birds are.
    static func picture(of name: String) -> Picture {
        var seed = name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        var half: [UInt8] = []
        for _ in 0..<32 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            half.append(UInt8(truncatingIfNeeded: seed >> 56))
        }
        return Picture(width: 8, height: 8) { column, row in half[row * 4 + min(column, 7 - column)]
        }
    }
}
