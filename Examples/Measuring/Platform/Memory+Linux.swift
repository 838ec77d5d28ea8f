#if os(Linux) || os(Android)
import Foundation

/// The bytes allocated on the process's heap, including the allocator's own bookkeeping.
package func allocatedBytes() -> Int {
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    typealias MallocInfo = @convention(c) (CInt, OpaquePointer) -> CInt
    guard let symbol = unsafe dlsym(nil, "malloc_info"),
        let stream = unsafe open_memstream(&text, &length)
    else { return 0 }
    // The type is the one that malloc.h declares.
    _ = unsafe unsafeBitCast(symbol, to: MallocInfo.self)(0, OpaquePointer(stream))
    unsafe fclose(stream)
    defer { unsafe free(text) }
    // The last lines sum up all arenas: the memory from the system, minus the free memory in it.
    let summary = unsafe String(cString: text!).components(separatedBy: "</heap>").last!
    func size(_ tag: String) -> Int {
        guard let line = summary.components(separatedBy: "\n").first(where: { $0.hasPrefix(tag) }),
            let field = line.components(separatedBy: "size=\"").last
        else { return 0 }
        return Int(field.prefix { $0.isNumber }) ?? 0
    }
    return size("<system type=\"current\"") + size("<total type=\"mmap\"")
        - size("<total type=\"fast\"") - size("<total type=\"rest\"")
}

/// The number of threads of the process.
package func threadCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
}
#endif
