let till = Till(tickets: 2)
let sold = (0..<3).map { _ in till.sell() }
print("Two tickets, three customers: \(sold)")
