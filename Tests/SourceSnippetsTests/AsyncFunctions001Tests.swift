import AsyncFunctions
import Foundation
import TestSupport
import Testing

// The snippets of the document on the free functions, unchanged. Each test checks what the document
// says of its snippet, and replaces `print` by a function of its own.

@Suite(.patient)
struct AsyncFunctions001Tests {
    @Test func `Law 1: the snippet's async runs its closure`() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func print(_ text: String) { continuation.resume() }

            async {
                print("This will execute asynchronously")
            }
        }
    }

    @Test
    func `Law 7: the snippet's delayed async runs its closure after its delay at the earliest`()
        async
    {
        let clock = ContinuousClock()
        let start = clock.now
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func print(_ text: String) { continuation.resume() }

            async(delay: 0.35) {
                print("This will execute asynchronously after at least 0.35 seconds")
            }
        }
        #expect(clock.now - start >= .milliseconds(350))
    }

    @Test func `Law 4: the snippet's mainThread runs its closure on the main actor`() async {
        let controller = UIViewController()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Task { @MainActor in
                UIApplication.sharedApplication().keyWindow!.onChange = { continuation.resume() }
                controller.show()
            }
        }
        #expect(
            await UIApplication.sharedApplication().keyWindow!.rootViewController === controller)
    }

    @Test
    func
        `Law 7: the snippet's delayed mainThread runs its closure after its delay at the earliest`()
        async
    {
        let clock = ContinuousClock()
        let start = clock.now
        let view = await UIView()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Task { @MainActor in
                view.onChange = { continuation.resume() }

                mainThread(delay: 0.35) {
                    view.hidden = true
                    view.alpha = 1.0
                }
            }
        }
        #expect(clock.now - start >= .milliseconds(350))
        #expect(await view.hidden)
        #expect(await view.alpha == 1)
    }

    @Test func `Law 3: no other job runs beside the snippet's asyncBarrier`() async {
        let lines = Lines()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func print(_ text: String) { lines.add(text) }

            for _ in 0..<50 { async { print("before") } }
            asyncBarrier {
                print("When this executes, no other operations will be executing")
            }
            for _ in 0..<50 { async { print("after") } }
            asyncBarrier { continuation.resume() }
        }
        let seen = lines.all
        #expect(seen.count == 101)
        #expect(seen[..<50].allSatisfy { $0 == "before" })
        #expect(seen[50] == "When this executes, no other operations will be executing")
        #expect(seen[51...].allSatisfy { $0 == "after" })
    }
}

// The part of UIKit that the snippets need.

@MainActor private final class UIApplication {
    private static let shared = UIApplication()
    static func sharedApplication() -> UIApplication { shared }
    let keyWindow: UIWindow? = UIWindow()
}

@MainActor private final class UIWindow {
    var rootViewController: UIViewController? { didSet { onChange() } }
    var onChange: () -> Void = {}
}

@MainActor private final class UIView {
    var hidden = false
    var alpha = 0.5 { didSet { onChange() } }
    var onChange: () -> Void = {}
}

private final class UIViewController: Sendable {
    /// Any thread may call it, as in the snippet.
    func show() {
        mainThread {
            UIApplication.sharedApplication().keyWindow!.rootViewController = self
        }
    }
}
