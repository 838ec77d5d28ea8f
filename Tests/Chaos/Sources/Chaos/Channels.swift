import ExecutionContexts
import ExecutionContextsWork

/// Law 36: each element that was sent is received once, in its sender's order; others never.
@Sendable func attackChannel(_ draw: inout Draw) async -> Findings {
    var findings = Findings()
    let alive = Shared(0)
    let keepsLatest = draw.oneIn(6)
    let closes = draw.oneIn(2)
    do {
        let capacity = draw.below(4)
        let channel =
            keepsLatest
            ? Channel<Counted>(keepingLatest: capacity + 1) : Channel<Counted>(capacity: capacity)
        let sent = Shared<[Int]>([])
        let receivers = (0...draw.below(3)).map { _ in receive(from: channel, draw.split()) }
        let senders = (0...draw.below(3)).map { number in
            send(to: channel, from: number * 1_000, sent, alive, draw.split())
        }
        if draw.oneIn(4) {
            // While elements are under way.
            await draw.pause()
            if closes { channel.close() } else { channel.cancel() }
        }
        for sender in senders { findings.operations += await sender.value }
        if closes { channel.close() } else { channel.cancel() }
        var received: [Int] = []
        for receiver in receivers {
            let numbers = await receiver.value
            findings.operations += numbers.count
            for (sender, ofSender) in Dictionary(grouping: numbers, by: { $0 / 1_000 }) {
                findings.check(ofSender == ofSender.sorted(), "the order of sender \(sender)")
            }
            received += numbers
        }
        let accepted = Set(sent.value)
        findings.check(Set(received).count == received.count, "an element came twice")
        findings.check(Set(received).isSubset(of: accepted), "an element came that was not sent")
        findings.check(
            !closes || keepsLatest || received.count == accepted.count, "an element was lost")
        findings.check(channel.count == 0, "an element is left")
    }
    await until { alive.value == 0 }
    return findings
}

private func send(
    to channel: Channel<Counted>, from first: Int, _ sent: Shared<[Int]>, _ alive: Shared<Int>,
    _ draw: Draw
) -> Task<Int, Never> {
    var draw = draw
    return Task.detached {
        let count = 5 + draw.below(25)
        for number in first..<first + count {
            do {
                switch draw.below(5) {
                case 0: try channel.trySend(Counted(number, alive))
                case 1, 2:
                    let once = Task { try await channel.send(Counted(number, alive)) }
                    await draw.pause()
                    once.cancel()
                    try await once.value
                default: try await channel.send(Counted(number, alive))
                }
                sent.change { $0.append(number) }
            } catch {}
        }
        return count
    }
}

private func receive(from channel: Channel<Counted>, _ draw: Draw) -> Task<[Int], Never> {
    var draw = draw
    return Task.detached {
        var numbers: [Int] = []
        while true {
            switch draw.below(5) {
            case 0:
                if let element = channel.tryReceive() { numbers.append(element.number) }
                await draw.pause()
            case 1, 2:
                let once = Task { try await channel.receive()?.number }
                await draw.pause()
                once.cancel()
                if let number = try? await once.value { numbers.append(number) }
            case 3:
                var iterator = channel.makeAsyncIterator()
                guard let element = await iterator.next() else { return numbers }
                numbers.append(element.number)
            default:
                do {
                    guard let element = try await channel.receive() else { return numbers }
                    numbers.append(element.number)
                } catch {}
            }
        }
    }
}
