import Pipeline
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("InflightTable", .watched)
struct InflightTableTests {
    private typealias Table = InflightTable<Int, String, Int>

    @Test("The first caller leads, equal ones join, and all finish in the order of their numbers")
    func join() {
        var table = Table(maximumCallerCount: 9, maximumExchangeCount: 9)
        let arrivals = [
            table.arrive(.init(number: 1, waiter: "a"), for: 7), table.arrive(.init(number: 3, waiter: "c"), for: 7),
            table.arrive(.init(number: 2, waiter: "b"), for: 7), table.arrive(.init(number: 4, waiter: "d"), for: 8),
        ]
        #expect(arrivals == [1, 1, 1, 4])
        #expect((table.exchangeCount, table.callerCount) == (2, 4))
        #expect(table.finish(1)?.callers.map(\.waiter) == ["a", "b", "c"])
        #expect((table.exchangeCount, table.callerCount) == (1, 1))
        let next = table.arrive(.init(number: 5, waiter: "e"), for: 7)
        #expect(next == 5)
    }

    @Test(
        "A caller can join a given exchange while it is in flight and has room, even if it is closed",
        arguments: [true, false]
    )
    func given(isClosed: Bool) {
        var table = Table(maximumCallerCount: 2, maximumExchangeCount: 9)
        _ = table.arrive(.init(number: 1, waiter: "a"), for: 7)
        if isClosed { table.close() }
        let joins = [
            table.join(.init(number: 2, waiter: "b"), to: 1), table.join(.init(number: 3, waiter: "c"), to: 1),
            table.join(.init(number: 4, waiter: "d"), to: 3),
        ]
        #expect(joins == [true, false, false])
        #expect((table.callerCount, table.closeCount) == (2, isClosed ? 1 : 0))
        #expect(table.finish(1)?.callers.map(\.waiter) == ["a", "b"])
        let isLate = table.join(.init(number: 5, waiter: "e"), to: 1)
        #expect(!isLate)
    }

    @Test("Work is rejected if all callers left before it was attached")
    func attach() {
        var table = Table(maximumCallerCount: 9, maximumExchangeCount: 9)
        _ = table.arrive(.init(number: 1, waiter: "a"), for: 7)
        #expect(table.leave(1)?.abandoned == nil)
        let isTaken = table.attach(70, to: 1)
        #expect(!isTaken)
    }

    @Test("A key is released when its exchange finishes or is abandoned", arguments: [true, false])
    func keys(isFinished: Bool) {
        final class Name: Hashable {
            static func == (lhs: Name, rhs: Name) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        var table = InflightTable<Name, String, Int>(maximumCallerCount: 9, maximumExchangeCount: 9)
        weak var kept: Name?
        do {
            let name = Name()
            kept = name
            _ = table.arrive(.init(number: 1, waiter: "a"), for: name)
        }
        #expect(kept != nil)
        if isFinished { _ = table.finish(1) } else { _ = table.leave(1) }
        #expect(kept == nil)
    }

    @Test("FAULTS D02: 200,000 random arrivals, departures and ends match a simple model", arguments: 1...2)
    func model(seed: UInt64) async {
        var random = PipelineRandom.seeded(seed)
        var model = Model()
        var lost = 0
        for step in 1...100_000 {
            model.step(&random)
            if model.complaint != nil || step % 5_000 == 0 { await Task.yield() }
            guard model.complaint == nil else { break }
            if random.next() % 20_000 == 0 {
                model.drain()
                lost += model.table.exchangeCount + model.table.callerCount
            }
        }
        model.drain()
        #expect(model.complaint == nil)
        #expect((model.table.exchangeCount, model.table.callerCount, lost) == (0, 0, 0))
        #expect(model.seen.count == 9, "not all was tried: \(model.seen.sorted())")
    }
}

/// A table and a plain list of the same exchanges, which must agree.
private struct Model {
    private struct Exchange {
        let number: Int
        let key: Int
        var callers: [Int]
        var isOpen = true
        var work: Int?
    }

    private static let callerLimit = 3
    private static let exchangeLimit = 3

    var table = InflightTable<Int, Int, Int>(maximumCallerCount: callerLimit, maximumExchangeCount: exchangeLimit)
    private var exchanges: [Exchange] = []
    private var lastCaller = 0
    /// How often each caller was resumed.
    private var told: [Int: Int] = [:]
    private(set) var complaint: String?
    private(set) var seen: Set<String> = []

    mutating func step(_ random: inout PipelineRandom) {
        switch random.next() % 64 {
        case 0..<32: arrive(for: Int(random.next() % 3))
        case 32..<44: leave(pickCaller(&random))
        case 44..<52: attach(pickExchange(&random))
        case 52..<63: finish(pickExchange(&random))
        default: close()
        }
        if table.exchangeCount != exchanges.count {
            complain("\(table.exchangeCount) exchanges, not \(exchanges.count)")
        }
        let callerCount = exchanges.reduce(0) { $0 + $1.callers.count }
        if table.callerCount != callerCount { complain("\(table.callerCount) callers, not \(callerCount)") }
    }

    /// Finishes all exchanges in flight.
    mutating func drain() {
        for exchange in exchanges { finish(exchange.number) }
    }

    private mutating func arrive(for key: Int) {
        lastCaller += 1
        let arrival = table.arrive(.init(number: lastCaller, waiter: lastCaller), for: key)
        let isRoom = exchanges.count < Self.exchangeLimit
        let open = exchanges.firstIndex { $0.key == key && $0.isOpen }
        let expected: Int?
        if let open, exchanges[open].callers.count < Self.callerLimit {
            expected = exchanges[open].number
            exchanges[open].callers.append(lastCaller)
            seen.insert("join")
        } else if isRoom {
            expected = lastCaller
            seen.insert("lead")
            if let open {
                exchanges[open].isOpen = false
                seen.insert("full")
            }
            exchanges.append(Exchange(number: lastCaller, key: key, callers: [lastCaller]))
        } else {
            expected = nil
            seen.insert("refused")
        }
        if arrival != expected { complain("\(arrival ?? 0), not \(expected ?? 0)") }
    }

    /// Returns the number of an exchange in flight, or another number.
    private func pickExchange(_ random: inout PipelineRandom) -> Int {
        let exchange = exchanges.randomElement(using: &random)
        return exchange.flatMap { random.next() % 4 > 0 ? $0.number : nil } ?? lastCaller - Int(random.next() % 24)
    }

    /// Returns a waiting caller, or a recent one that may have left.
    private func pickCaller(_ random: inout PipelineRandom) -> Int {
        let caller = exchanges.randomElement(using: &random)?.callers.randomElement(using: &random)
        return caller.flatMap { random.next() % 4 > 0 ? $0 : nil } ?? lastCaller - Int(random.next() % 24)
    }

    private mutating func leave(_ caller: Int) {
        let departure = table.leave(caller)
        guard let index = exchanges.firstIndex(where: { $0.callers.contains(caller) }) else {
            if departure != nil { complain("\(caller) has left twice") }
            return
        }
        exchanges[index].callers.removeAll { $0 == caller }
        if departure?.waiter != caller { complain("\(caller) was not let go") }
        tell(caller)
        guard exchanges[index].callers.isEmpty else {
            if departure?.abandoned != nil { complain("work was abandoned that others wait for") }
            seen.insert(caller == exchanges[index].number ? "leader left" : "left")
            return
        }
        if departure?.abandoned != exchanges[index].work { complain("work was not abandoned with its last caller") }
        if exchanges[index].work != nil { seen.insert("abandoned") }
        exchanges.remove(at: index)
    }

    private mutating func attach(_ number: Int) {
        let index = exchanges.firstIndex { $0.number == number }
        if table.attach(number * 10, to: number) != (index != nil) {
            complain("work attached to what is gone")
        }
        if let index { exchanges[index].work = number * 10 }
    }

    private mutating func finish(_ number: Int) {
        let answered = table.finish(number)?.callers ?? []
        let index = exchanges.firstIndex { $0.number == number }
        let expected = index.map { exchanges[$0].callers.sorted() } ?? []
        if answered.map(\.number) != expected || answered.map(\.waiter) != expected {
            complain("\(answered) answered, not \(expected)")
        }
        for caller in answered { tell(caller.number) }
        if let index {
            seen.insert("finished")
            exchanges.remove(at: index)
        }
    }

    private mutating func close() {
        table.close()
        if exchanges.contains(where: \.isOpen) { seen.insert("closed") }
        for index in exchanges.indices { exchanges[index].isOpen = false }
    }

    private mutating func tell(_ caller: Int) {
        told[caller, default: 0] += 1
        if told[caller] != 1 { complain("\(caller) was told twice") }
    }

    private mutating func complain(_ text: String) {
        complaint = complaint ?? text
    }
}
