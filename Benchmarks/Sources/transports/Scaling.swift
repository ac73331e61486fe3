import Foundation
import Pipeline
import PipelineTransports

/// How much more two tasks get done in parallel than one alone.
struct Scaling: Codable {
    let name: String
    /// Work of two tasks in a second over that of one; the median of each round's own ratio.
    let ratio: Double

    /// Work of a task: the number of the task, and how often.
    private struct Work: Sendable {
        let name: String
        let run: @Sendable (_ task: Int, _ count: Int) async throws -> Void
    }

    private static func works() -> [Work] {
        [
            Work(name: "arithmetic, what the machine can do") { task, count in
                var value = UInt64(task + 1)
                for _ in 0..<count * 1_000 { value = value &* 6_364_136_223_846_793_005 &+ 1 }
                try Side.require(value != 0)
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

    /// The work of that name in two tasks, for a profiler; nothing when there is none.
    static func run(only name: String, count: Int) async throws {
        for work in works() where work.name == name { print(try await time(work, tasks: 2, count)) }
    }

    static func measure(rounds: Int, count: Int) async throws -> [Scaling] {
        let works = works()
        var ratios = Array(repeating: [Double](), count: works.count)
        for round in 0...rounds {
            for (index, work) in works.enumerated() {
                let one = try await time(work, tasks: 1, count)
                let two = try await time(work, tasks: 2, count)
                // The first round warms up.
                if round > 0 { ratios[index].append(2 * one / two) }
            }
        }
        return works.indices.map { Scaling(name: works[$0].name, ratio: median(ratios[$0])) }
    }

    private static func stacked() -> Provider<Page> { Provider(transport: StubTransport(), plugins: Page.plugins) }

    private static func calls(_ name: String, _ providers: [Provider<Page>]) -> Work {
        Work(name: name) { task, count in
            let provider = providers[task % providers.count]
            for _ in 0..<count {
                let response = try await provider.request(Page(byteCount: 1_024))
                try Side.require(response.statusCode == 200)
            }
        }
    }

    @concurrent
    private static func time(_ work: Work, tasks: Int, _ count: Int) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks { group.addTask { try await work.run(task, count) } }
            try await group.waitForAll()
        }
        return start.duration(to: .now) / .seconds(1)
    }

    var line: String { Text.left(name, 41) + Text.right(ratio, 2, 10) }
}
