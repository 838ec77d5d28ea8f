// The only file of the module that knows of searches. Without the trait `Searched` the program
// contains nothing of them.
#if Searched
internal import ExecutionContextsTesting

typealias Mutex = SimulatedMutex
let isSearched = true
#else
internal import Synchronization

typealias Mutex = Synchronization.Mutex
let isSearched = false
#endif
