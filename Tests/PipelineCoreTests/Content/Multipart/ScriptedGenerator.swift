/// A generator that returns the given numbers and then repeats the last one.
struct ScriptedGenerator: RandomNumberGenerator {
    private let numbers: [UInt64]
    private(set) var callCount = 0

    init(_ numbers: UInt64...) {
        self.numbers = numbers
    }

    mutating func next() -> UInt64 {
        defer { callCount += 1 }
        return callCount < numbers.count ? numbers[callCount] : numbers.last ?? 0
    }
}
