import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTesting

@Suite("PluginConformance", .tags(.concurrent), .watched)
struct PluginConformanceTests {
    /// Returns the names of the checks that a plugin fails.
    static func failed(
        patience: Duration = .seconds(240),
        _ makePlugin: @escaping @Sendable () -> any PluginType
    ) async -> Set<String> {
        Set(await PluginConformance(patience: patience, makePlugin: makePlugin).run().map(\.check))
    }

    static func never() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    // MARK: Plugins that conform

    @Test("A plugin that does nothing conforms")
    func nothing() async {
        #expect(await PluginConformance { PluginStack.prepare { _, _ in } }.run() == [])
    }

    @Test("A plugin that waits before it sends conforms")
    func delay() async {
        let violations = await PluginConformance {
            PluginStack.prepare { _, context in try await context.clock.sleep(for: .seconds(3_600)) }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that retries after a pause conforms")
    func retry() async {
        let violations = await PluginConformance {
            PluginStack.intercept { request, context, next in
                for _ in 0..<3 {
                    if let response = try? await next(request), response.statusCode < 500 { return response }
                    try await context.clock.sleep(for: .seconds(60))
                }
                return try await next(request)
            }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that limits the duration of a call conforms")
    func timeout() async {
        let violations = await PluginConformance {
            PluginStack.intercept { request, context, next in
                try await withThrowingTaskGroup(of: PipelineResponse.self) { group in
                    group.addTask { try await next(request) }
                    group.addTask {
                        try await context.clock.sleep(for: .seconds(30))
                        throw PipelineError(.timeout(.attempt), "too slow")
                    }
                    defer { group.cancelAll() }
                    guard let first = try await group.next() else { throw CancellationError() }
                    return first
                }
            }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that turns failures into responses conforms")
    func fallback() async {
        let violations = await PluginConformance {
            PluginStack.process { result, _ in
                guard case .failure(let error) = result, error.code != .cancelled, let request = error.request else {
                    return
                }
                result = .success(PipelineResponse(request: request, statusCode: 200))
            }
        }.run()
        #expect(violations == [])
    }

    @Test("A plugin that only observes how calls end conforms")
    func observer() async {
        #expect(await PluginConformance { PluginStack.didFinish { _, _ in } }.run() == [])
    }

    // MARK: Each check can fail

    private struct NoStage: PluginType {}

    @Test("checkNames lists every check that a plugin can violate")
    func checkNames() {
        #expect(
            PluginConformance { NoStage() }.checkNames == [
                "stages", "name", "success", "failure", "serverError", "cancellation", "stream", "download", "finish",
                "pairs", "exchange", "resending", "concurrency", "retries", "sharing", "storing", "secrets",
                "clock",
            ]
        )
    }

    @Test("stages: a plugin without a stage fails")
    func stages() async {
        #expect(await Self.failed { NoStage() } == ["stages"])
    }
}
