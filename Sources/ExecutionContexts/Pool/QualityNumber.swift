internal import Dispatch

extension DispatchQoS.QoSClass {
    /// The number of this class on Apple's systems, for `LibraryThreads`; zero where none is given.
    var number: UInt32 {
        switch self {
        case .background: 0x09
        case .utility: 0x11
        case .default: 0x15
        case .userInitiated: 0x19
        case .userInteractive: 0x21
        default: 0
        }
    }
}
