import Foundation

/// A bird, with a picture if there is one.
struct Bird: Hashable, Sendable {
    var name: String
    var picture: Picture?
}

/// A bird as the server lists it: its picture is at a path of its own.
struct BirdEntry: Codable, Hashable, Sendable {
    var name: String
    var image: String

    /// Reads the list that the server sends.
    static func list(from data: Data) throws(BirdError) -> [BirdEntry] {
        do { return try JSONDecoder().decode([BirdEntry].self, from: data) } catch {
            throw .unreadable("the list of birds")
        }
    }
}
