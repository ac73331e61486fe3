import Foundation
import Pipeline

/// The work that two parallel tasks do, compared with one task.
struct Scaling: Codable {
    let name: String
    /// The work per second of two tasks divided by that of one; the median of the rounds' ratios.
    let ratio: Double
    /// The ratio divided by that of the second yardstick, which allocates; the median of the rounds' shares.
    let ofAllocating: Double
    /// The allocations of one run.
    let allocations: Double

    /// Work for a task with a given number, repeated `count` times.
    private struct Work: Sendable {
        let name: String
        let run: @Sendable (_ task: Int, _ count: Int) async throws -> Void
    }

    /// A block of memory like those that a call allocates.
    private final class Block {
        let bytes: [UInt8]
        let text: String

        init(_ byte: UInt8, count: Int) {
            bytes = [UInt8](repeating: byte, count: count)
            text = String(decoding: bytes.prefix(20), as: UTF8.self)
        }
    }

    private static let allocating = 1

    /// Returns all works.
    ///
    /// The first two are yardsticks, whose tasks share nothing.
    private static func works() -> [Work] {
        [
            Work(name: "arithmetic, what the machine can do") { task, count in
                var value = UInt64(task + 1)
                for _ in 0..<count * 1_000 { value = value &* 6_364_136_223_846_793_005 &+ 1 }
                try Side.require(value != 0)
            },
            Work(name: "allocating, as a call does") { task, count in
                for number in 0..<count { try Side.require(allocate(task &+ number) > 0) }
            },
            calls(
                "no plugins, a provider each",
                [Provider(transport: StubTransport()), Provider(transport: StubTransport())]
            ),
            calls("no plugins, one shared provider", [Provider(transport: StubTransport())]),
            calls("six plugins, a provider each", [stacked(), stacked()]),
            calls("six plugins, one shared provider", [stacked()]),
        ]
    }

    /// Makes 13 allocations of 2.7 KiB in all, and writes and reads every byte.
    ///
    /// A stubbed call without plugins makes about as many (14, 2.7 KiB).
    @inline(never)
    private static func allocate(_ seed: Int) -> Int {
        let blocks = (1...4).map { Block(UInt8(1 + seed & 0x3f), count: 210 * $0) }
        return blocks.reduce(0) { sum, block in
            block.bytes.reduce(sum + block.text.utf8.count) { $0 + Int($1) }
        }
    }

    /// Returns all works as cases with two tasks, for `scripts/compare-builds`.
    static func cases() -> [Case] {
        works().map { work in
            Case(name: "two tasks, \(work.name)") { count in _ = try await measure(work, tasks: 2, max(count / 2, 1)) }
        }
    }

    /// Runs the work with that name in two tasks, for a profiler.
    ///
    /// Does nothing if no work has the name.
    static func run(only name: String, count: Int) async throws {
        for work in works() where work.name == name { print(try await measure(work, tasks: 2, count).seconds) }
    }

    static func measure(rounds: Int, count: Int) async throws -> [Scaling] {
        let works = works()
        var ratios = Array(repeating: [Double](), count: works.count)
        var allocations = Array(repeating: Double.infinity, count: works.count)
        for round in 0...rounds {
            for (index, work) in works.enumerated() {
                let one = try await measure(work, tasks: 1, count)
                let two = try await measure(work, tasks: 2, count)
                allocations[index] = min(allocations[index], one.allocations)
                // The first round is a warm-up.
                if round > 0 { ratios[index].append(2 * one.seconds / two.seconds) }
            }
        }
        return works.indices.map { index in
            Scaling(
                name: works[index].name,
                ratio: median(ratios[index]),
                ofAllocating: median(zip(ratios[index], ratios[allocating]).map { $0 / $1 }),
                allocations: allocations[index]
            )
        }
    }

    private static func stacked() -> Provider<Page> { Provider(transport: StubTransport(), plugins: Page.plugins) }

    private static func calls(_ name: String, _ providers: [Provider<Page>]) -> Work {
        Work(name: name) { task, count in
            let provider = providers[task % providers.count]
            for _ in 0..<count {
                let response = try await provider.request(Page(byteCount: 1_024, number: task))
                try Side.require(response.statusCode == 200)
            }
        }
    }

    private static func measure(_ work: Work, tasks: Int, _ count: Int) async throws -> Slice {
        try await Slice.measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks { group.addTask { try await work.run(task, count) } }
                try await group.waitForAll()
            }
            return tasks * count
        }
    }

    static let heading = "work of two tasks over that of one             ratio  of allocating  allocations"

    var line: String {
        Text.left(name, 41) + Text.right(ratio, 2, 11) + Text.right(ofAllocating, 3, 15)
            + Text.right(allocations, 1, 13)
    }
}
