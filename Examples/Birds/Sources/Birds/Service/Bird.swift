import Foundation

/// A bird, with a picture if there is one.
struct Bird: Hashable, Sendable {
    var name: String
    var picture: Picture?
}

/// A bird in the server's list, with the path of its picture.
struct BirdEntry: Codable, Hashable, Sendable {
    var name: String
    var image: String

    /// Decodes the server's list.
    static func list(from data: Data) throws(BirdError) -> [BirdEntry] {
        do { return try JSONDecoder().decode([BirdEntry].self, from: data) } catch {
            throw .unreadable("the list of birds")
        }
    }
}
