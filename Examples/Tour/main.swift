import ExecutionContexts
import ExecutionContextsTesting
import Dispatch
import Foundation

final class Counter: @unchecked Sendable { var n = 0 }
let c = Counter()
let s = GlobalContext().serial("s")
for _ in 0..<100_000 { s.execute { c.n += 1 } }
let v = try await s.run { c.n }
print(v)
let g = GlobalContext().barrier()
for i in 0..<100_000 { if i % 10 == 0 { g.executeBarrier { c.n += 1 } } else { g.execute { } } }
print(await withCheckedContinuation { k in g.executeBarrier { k.resume(returning: unsafe c.n) } })
let l = GlobalContext().limited(to: 2)
for i in 0..<1000 { l.execute { if i % 100 == 0 { print(i, terminator: " ") } } }
let imm = ImmediateContext().serial()
imm.execute { for _ in 0..<2000 { imm.execute { c.n += 1 } } }
print(c.n)
let t0 = DispatchTime.now().uptimeNanoseconds
await withCheckedContinuation { k in s.schedule(after: .milliseconds(20)) { k.resume() } }
print((DispatchTime.now().uptimeNanoseconds - t0) / 1000)
let th = RunLoopThreadContext(name: "loop")
print(try await th.run { Thread.current.name ?? "" })
let bl = try await ExecutionContextHolder.blocking.run { 5 }
print(bl)
enum ExecutionContextHolder { static let blocking: any ExecutionContext = .blocking }
let m = ManualContext()
let mv = m.serial("x").named("y")
mv.schedule(after: .seconds(3)) { print("manual at", m.now) }
m.advance(by: .seconds(5))
actor A { 
  let ex: any SerialExecutor
  init(_ c: some SerialContext) { ex = c.serialExecutor }
  nonisolated var unownedExecutor: UnownedSerialExecutor { ex.asUnownedSerialExecutor() }
  var x = 0
  func inc() -> Int { x += 1; return x }
}
let a = A(s)
for _ in 0..<1000 { _ = await a.inc() }
print(await a.inc(), try await s.run { a.assumeIsolated { $0.x } })
let ac = a.context
print(try await ac.run { a.assumeIsolated { $0.x } })
await Task(executorPreference: g.taskExecutor) { print(g.isCurrent as Any) }.value
print(await withCheckedContinuation { (k: CheckedContinuation<Bool, Never>) in DispatchQueue.global().async { MainContext().execute { MainActor.preconditionIsolated(); k.resume(returning: MainContext().isCurrent!) } } })
