#if os(Linux)
import Foundation

/// Makes the system refuse calls of the calling thread, and of threads that it starts later.
enum Sandbox {
    #if arch(x86_64)
    static let membarrier: UInt32 = 324, setAffinity: UInt32 = 203
    #else
    static let membarrier: UInt32 = 283, setAffinity: UInt32 = 122
    #endif

    /// One instruction of a BPF filter: a code, two jumps and an operand.
    private static func instruction(_ code: UInt64, else jump: UInt64 = 0, _ operand: UInt32)
        -> UInt64
    {
        code | jump << 24 | UInt64(operand) << 32
    }

    static func refuse(_ calls: [UInt32]) {
        typealias Prctl = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
        // By name, since Swift does not import functions with a variable number of arguments.
        guard let symbol = unsafe dlsym(nil, "prctl") else { fatalError("There is no prctl.") }
        // Unsafe: the type is that of the C function, whose further arguments are words.
        let prctl = unsafe unsafeBitCast(symbol, to: Prctl.self)
        let (loadNumber, unlessEqual, returnValue): (UInt64, UInt64, UInt64) = (0x20, 0x15, 0x06)
        let (notPermitted, allowed): (UInt32, UInt32) = (0x0005_0001, 0x7fff_0000)
        var filter = [instruction(loadNumber, 0)]
        for call in calls {
            filter += [
                instruction(unlessEqual, else: 1, call), instruction(returnValue, notPermitted),
            ]
        }
        filter.append(instruction(returnValue, allowed))
        unsafe filter.withUnsafeBufferPointer { filter in
            // The number of instructions, and their address.
            let program = [UInt(filter.count), UInt(bitPattern: filter.baseAddress)]
            unsafe program.withUnsafeBufferPointer { program in
                let noNewPrivileges = prctl(38, 1, 0, 0, 0)
                let isFiltered = prctl(22, 2, UInt(bitPattern: program.baseAddress), 0, 0)
                guard noNewPrivileges == 0, isFiltered == 0 else {
                    fatalError("There is no sandbox.")
                }
            }
        }
    }
}
#endif
