#if canImport(Darwin)
import Darwin

/// The bytes allocated on the process's heap.
package func allocatedBytes() -> Int {
    var statistics = malloc_statistics_t()
    unsafe malloc_zone_statistics(nil, &statistics)
    return Int(statistics.size_in_use)
}

/// The number of threads of the process.
package func threadCount() -> Int {
    var threads: thread_act_array_t?
    var count: mach_msg_type_number_t = 0
    guard unsafe task_threads(mach_task_self_, &threads, &count) == KERN_SUCCESS else { return 0 }
    let size = vm_size_t(MemoryLayout<thread_t>.stride * Int(count))
    unsafe vm_deallocate(mach_task_self_, vm_address_t(UInt(bitPattern: threads)), size)
    return Int(count)
}
#endif
