/// Why there are no birds.
enum BirdError: Error, Hashable, CustomStringConvertible {
    /// The server answered with something else than 200.
    case status(Int, path: String)
    /// What came is not what it should be.
    case unreadable(String)
    /// There is no such address.
    case badPath(String)

    var description: String {
        switch self {
        case .status(let code, let path): "The server answered \(code) to \(path)."
        case .unreadable(let what): "What came in place of \(what) cannot be read."
        case .badPath(let path): "'\(path)' is not a path on the server."
        }
    }
}
