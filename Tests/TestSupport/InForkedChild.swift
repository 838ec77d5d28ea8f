import CPlatform
import Foundation

/// Runs `body` in a forked child; exits with a failure unless the child ends with success.
///
/// With `isWarm` it has run here, too, where it is harmless: the runtime then has its metadata, and
/// the child does not wait for a lock of the runtime that another thread held at the fork.
package func inForkedChild(isWarm: Bool = true, _ body: () -> Void) {
    if isWarm { for _ in 1...10 { body() } }
    awaitOtherThreads()
    typealias Fork = @convention(c) () -> pid_t
    // By name, since Swift does not import it.
    guard let symbol = unsafe dlsym(nil, "fork") else { fatalError("There is no fork.") }
    // The type is the one that unistd.h declares.
    let child = unsafe unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
        // The alarm ends a child that hangs, which is a failure. Dispatch's threads block it.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        alarm(120)
        body()
        _exit(0)
    }
    var status: CInt = 0
    while unsafe waitpid(child, &status, 0) != child {}
    guard status == 0 else { exit(1) }
}

/// Waits until all other threads sleep, at several checks. None of them then holds a runtime lock.
/// Does nothing on a system that does not report it.
private func awaitOtherThreads() {
    let own = "\(ec_thread_handle())"
    var quietLooks = 0
    while quietLooks < 20 {
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let others = (threads ?? []).filter { $0 != own }.compactMap { Int64($0) }
        let isQuiet = others.allSatisfy { ec_thread_activity($0) == ec_activity_asleep }
        quietLooks = isQuiet ? quietLooks + 1 : 0
        sched_yield()
    }
}
