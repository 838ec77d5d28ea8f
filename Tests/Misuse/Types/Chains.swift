import ExecutionContexts

// A mistake in a chain of futures has a line of its own. "When the compiler says" in the Guide has
// the exceptions: there a closure decides a type that another closure needs.

struct Bird: Sendable { let name: String }

func bird(_ number: Int) -> Async<Bird> { Async(.success(Bird(name: "\(number)"))) }

func mistakes(_ number: Async<Int>) {
    number.map { number in
        print("maps")
        return number.cont
        // expected-error@-1 {{value of type 'Int' has no member 'cont'}}
    }.onSuccess { print($0) }
    number.flatMap { number in
        print("loads")
        return bird("\(number)")
        // expected-error@-1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
    }.onComplete { print($0) }
    let found = number.flatMap { number in bird(number) }
    found.map { $0.nam }.onSuccess { print($0) }
    // expected-error@-1 {{value of type 'Bird' has no member 'nam'}}
    number.map { number in bird(number) }.onSuccess { bird in print(bird.name) }
    // expected-error@-1 {{value of type 'Async<Bird>' has no member 'name'}}
    number.onSuccess { number in _ = try bird(number).wait() }
    // expected-error@-1 {{invalid conversion from throwing function of type '@Sendable (Int) throws -> ()' to non-throwing function type '@Sendable (Int) -> Void'}}
    number.onSuccess { number in _ = await bird(number) }
    // expected-error@-1 {{cannot pass function of type '@Sendable (Int) async -> ()' to parameter expecting synchronous function type}}
    number.recover { error in print(error) }.onSuccess { print($0) }
    // expected-error@-1 {{cannot convert value of type '()' to closure result type 'Int'}}
}

// Of two mistakes in one closure the first is reported.

func twoMistakes(_ number: Async<Int>) -> Async<String> {
    number.flatMap { number in
        let first = bird("\(number)")
        // expected-error@-1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
        return first.map { $0.nam }
    }
}

func aLongCallback(_ number: Async<Int>) {
    number.onComplete { outcome in
        switch outcome {
        case .success(let number):
            let text = "\(number)"
            if number > 3 { print(text.cont) }
            // expected-error@-1 {{value of type 'String' has no member 'cont'}}
            for index in 0..<number where index % 2 == 0 { print(index) }
        case .failure(let error): print(error.code)
        }
    }
}

// The exceptions. No shape of the methods avoids them all: see "Async" in Design.

func innocent(_ number: Async<Int>) {
    number.map { number in
        // expected-mode6-error@-1 {{type 'Any' does not conform to the 'Sendable' protocol}}
        let next = number + 1
        return next
    }.onSuccess { print($0) }
    // expected-mode6-error@-1 {{type 'Any' does not conform to the 'Sendable' protocol}}
    number.flatMap { number in bird(number) }.onSuccess { bird in
        // expected-error@-1 {{cannot convert value of type 'Async<Bird>' to closure result type 'Async<NewValue>'}}
        // expected-error@-2 {{cannot infer type of closure parameter 'bird' without a type annotation}}
        if bird.name.isEmpty { print("nobody") }
        print(bird.nam)
    }
    number.flatMap { number in
        print("loads")
        return bird(number)
    }.map { bird in bird.nam }.onSuccess { print($0) }
    // expected-error@-1 {{cannot infer type of closure parameter 'bird' without a type annotation}}
}
