import Foundation
import Pipeline
import PipelineTransports

/// How much more two tasks get done in parallel than one alone.
struct Scaling: Codable {
    let name: String
    /// Work of two tasks in a second over that of one; the median of each round's own ratio.
    let ratio: Double
    /// The ratio as a share of that of the second yardstick, which allocates; the median of each round's own share.
    let ofAllocating: Double
    /// Of one run.
    let allocations: Double

    /// Work of a task: the number of the task, and how often.
    private struct Work: Sendable {
        let name: String
        let run: @Sendable (_ task: Int, _ count: Int) async throws -> Void
    }

    /// A piece of memory such as a call allocates.
    private final class Block {
        let bytes: [UInt8]
        let text: String

        init(_ byte: UInt8, count: Int) {
            bytes = [UInt8](repeating: byte, count: count)
            text = String(decoding: bytes.prefix(20), as: UTF8.self)
        }
    }

    private static let allocating = 1

    /// The first two are yardsticks, of which tasks share nothing.
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

    /// About as many allocations (13) and bytes (2.7 KiB) as a stubbed call without plugins makes (14, 2.7 KiB), all written and read.
    @inline(never)
    private static func allocate(_ seed: Int) -> Int {
        let blocks = (1...4).map { Block(UInt8(1 + seed & 0x3f), count: 210 * $0) }
        return blocks.reduce(0) { sum, block in
            block.bytes.reduce(sum + block.text.utf8.count) { $0 + Int($1) }
        }
    }

    /// All works in two tasks, for `scripts/compare-builds`.
    static func cases() -> [Case] {
        works().map { work in
            Case(name: "two tasks, \(work.name)") { count in _ = try await measure(work, tasks: 2, max(count / 2, 1)) }
        }
    }

    /// The work of that name in two tasks, for a profiler; nothing when there is none.
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
                // The first round warms up.
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
