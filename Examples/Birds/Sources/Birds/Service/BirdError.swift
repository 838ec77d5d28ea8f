/// Why there are no birds.
enum BirdError: Error, Hashable, CustomStringConvertible {
    /// The server answered with a status other than 200.
    case status(Int, path: String)
    /// The answer cannot be decoded.
    case unreadable(String)
    /// The path makes no valid address.
    case badPath(String)

    var description: String {
        switch self {
        case .status(let code, let path): "The server answered \(code) to \(path)."
        case .unreadable(let what): "The answer cannot be decoded as \(what)."
        case .badPath(let path): "'\(path)' is not a path on the server."
        }
    }
}
