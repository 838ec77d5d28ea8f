#if canImport(Darwin)
import Darwin

/// The bytes that the program's heap has given out.
func allocatedBytes() -> Int {
    var statistics = malloc_statistics_t()
    unsafe malloc_zone_statistics(nil, &statistics)
    return Int(statistics.size_in_use)
}
#endif
