import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Values that plugins share within a call", .tags(.concurrent), .watched)
struct PipelineContextTests {
    private enum Count: PipelineContext.Key { static let defaultValue = 0 }
    private enum Names: PipelineContext.Key { static let defaultValue: [String] = [] }
    private enum Limit: PipelineContext.Key { static let defaultValue: Int? = 5 }

    /// Makes a call through the plugins and returns what the closure reads from its context.
    private func value<Value: Sendable>(
        _ plugins: [any PluginType] = [],
        _ read: @escaping @Sendable (PipelineContext) -> Value
    ) async throws -> Value? {
        let found = Mutex<Value?>(nil)
        let reader = PluginStack.process { _, context in found.withLock { $0 = read(context) } }
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [reader] + plugins
        )
        _ = try await provider.request(TestTarget())
        return found.withLock { $0 }
    }

    /// Calls `next` the given number of times concurrently.
    private func fanOut(_ count: Int) -> any PluginType {
        .intercept { request, _, next in
            try await withThrowingTaskGroup(of: PipelineResponse.self) { group in
                for _ in 0..<count { group.addTask { try await next(request) } }
                var last = PipelineResponse(request: request, statusCode: 299)
                for try await response in group { last = response }
                return last
            }
        }
    }

    @Test("P09 200 concurrent calls of next that each change a value 500 times lose no update")
    func concurrentUpdates() async throws {
        let change = PluginStack.prepare { _, context in
            for _ in 0..<500 { context.update(Count.self) { $0 += 1 } }
        }
        #expect(try await value([fanOut(200), change]) { $0[Count.self] } == 100_000)
    }

    @Test("The earliest deadline set by concurrent calls of next applies")
    func concurrentDeadlines() async throws {
        let change = PluginStack.prepare { _, context in
            for step in (0..<50).reversed() {
                context.setDeadline(context.start.advanced(by: .seconds(step * 1_000 + context.attempt)))
            }
        }
        let earliest = try await value([fanOut(200), change]) { context in
            context.deadline.map { context.start.duration(to: $0) }
        }
        #expect(earliest == .seconds(1))
    }

    @Test("An update starts from the default, returns its closure's result, and is visible to later reads")
    func results() async throws {
        let seen = try await value { context in
            let first = context.update(Names.self) { names in
                names.append("a")
                return names.count
            }
            let second = context.update(Names.self) { names in
                names.append("b")
                return names.count
            }
            return ["\(first)", "\(second)"] + context[Names.self]
        }
        #expect(seen == ["1", "2", "a", "b"])
    }

    @Test("An update that throws passes the error on and keeps its changes")
    func throwing() async throws {
        let seen = try await value { context in
            do {
                try context.update(Count.self) { count throws(TestFailure) in
                    count = 7
                    throw TestFailure()
                }
                return -1
            } catch {
                return context[Count.self]
            }
        }
        #expect(seen == 7)
    }

    @Test("An optional value has its default until it is set, even if it is set to nil")
    func optional() async throws {
        let seen = try await value { context in
            let before = context[Limit.self]
            let updated = context.update(Limit.self) { limit in
                defer { limit = nil }
                return limit
            }
            return [before, updated, context[Limit.self], context.update(Limit.self) { $0 }]
        }
        #expect(seen == [5, 5, nil, nil])
    }

    @Test("Reading or changing a value inside the closure of an update traps with a message")
    func recursion() async {
        let reading = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await PipelineContextTests.recurse { context in context.update(Count.self) { $0 = context[Count.self] }
            }
        }
        let changing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await PipelineContextTests.recurse { context in
                context.update(Count.self) { _ in context.update(Names.self) { $0 = [] } }
            }
        }
        for result in [reading, changing] {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Recursive call to lock Mutex") || text.contains("os_unfair_lock"), "\(text)")
        }
    }

    private static func recurse(_ change: @escaping @Sendable (PipelineContext) -> Void) async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.prepare { _, context in change(context) }]
        )
        _ = try await provider.request(TestTarget())
    }
}
