import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("PluginConformance: checks", .tags(.concurrent), .realTime, .watched)
struct PluginCheckTests {
    @Test("name: a blank name fails", arguments: ["", " \n"])
    func name(name: String) async {
        #expect(await PluginConformanceTests.failed { PluginStack.prepare(name: name) { _, _ in } } == ["name"])
    }

    @Test("success: a plugin that throws instead of sending fails")
    func success() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.prepare { _, _ in throw PipelineError(.offline, "no") }
        }
        #expect(failed.isSuperset(of: ["success", "concurrency", "stream"]))
        #expect(failed.isDisjoint(with: ["failure", "serverError", "pairs", "secrets"]))
    }

    @Test("success, failure, serverError: a plugin that reports a cancellation without one fails")
    func saysCancelled() async {
        let failed = await PluginConformanceTests.failed { PluginStack.prepare { _, _ in throw CancellationError() } }
        #expect(failed.isSuperset(of: ["success", "failure", "serverError"]))
    }

    @Test("failure, serverError, finish: a plugin that never ends a call without a 200 response fails")
    func hangs() async {
        let failed = await PluginConformanceTests.failed(patience: .milliseconds(50)) {
            PluginStack.process { result, _ in
                if (try? result.get())?.statusCode != 200 { await PluginConformanceTests.never() }
            }
        }
        #expect(failed.isSuperset(of: ["failure", "serverError", "finish"]))
    }

    @Test("success, cancellation, stream, concurrency: a plugin that never ends any call fails")
    func alwaysHangs() async {
        let failed = await PluginConformanceTests.failed(patience: .milliseconds(50)) {
            PluginStack.prepare { _, _ in await PluginConformanceTests.never() }
        }
        #expect(failed.isSuperset(of: ["success", "cancellation", "stream", "concurrency"]))
    }

    @Test("cancellation: a plugin that returns a response for a cancelled call fails")
    func answersCancelled() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.intercept { request, _, next in
                guard let response = try? await next(request) else {
                    return PipelineResponse(request: request, statusCode: 200)
                }
                return response
            }
        }
        #expect(failed == ["cancellation"])
    }

    @Test("cancellation: a plugin that turns it into another failure fails")
    func renamesCancelled() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.process { result, _ in
                if case .failure = result { result = .failure(PipelineError(.offline, "no")) }
            }
        }
        #expect(failed == ["cancellation"])
    }

    @Test("cancellation: a plugin that continues to wait fails")
    func ignoresCancelled() async {
        let failed = await PluginConformanceTests.failed(patience: .milliseconds(50)) {
            PluginStack.intercept { request, _, next in try await Task { try await next(request) }.value }
        }
        #expect(failed.contains("cancellation"))
    }

    /// Waits on the real clock in its first call.
    private final class RealWait: Stage.Prepare {
        let hasWaited = Mutex(false)

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            let isFirst = hasWaited.withLock { waited in
                defer { waited = true }
                return !waited
            }
            guard isFirst else { return }
            // On a busy machine, each wait takes about as long as a round of the check.
            for _ in 0..<1_200 { try await ContinuousClock().sleep(for: .milliseconds(3)) }
        }
    }

    @Test("clock: a plugin that waits on the real clock fails")
    func realClock() async {
        let plugin = RealWait()
        let violations = await PluginConformance { plugin }.run()
        #expect(violations.count { $0.check == "clock" } == 1)
        #expect(violations.last?.message.contains("context.clock.sleep") == true)
    }

    /// Lets one call in at a time, and does not let the next one in after a call has failed.
    private final class Turnstile: Stage.Intercept {
        let isBusy = Mutex(false)

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            while isBusy.withLock({ $0 }) { try await context.clock.sleep(for: .seconds(1)) }
            isBusy.withLock { $0 = true }
            let response = try await next(request)
            isBusy.withLock { $0 = false }
            return response
        }
    }

    @Test("cancellation: a plugin that is stuck after a cancelled call fails")
    func stuckAfterCancelled() async {
        let violations = await PluginConformance(patience: .seconds(2)) { Turnstile() }.run()
        #expect(violations.contains { $0.description == "cancellation: the call after a cancelled one did not end" })
    }

    /// Returns its own response as soon as the request is sent, and abandons the exchange.
    private final class Deserter: Stage.Intercept, Stage.WillSend {
        let hasSent = Mutex(false)

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            hasSent.withLock { $0 = true }
        }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            Task { try await next(request) }
            await eventually { hasSent.withLock { $0 } }
            return PipelineResponse(request: request, statusCode: 200)
        }
    }

    @Test("pairs: a plugin that abandons an exchange fails")
    func leavesBehind() async {
        #expect(await PluginConformanceTests.failed { Deserter() }.contains("pairs"))
    }

    @Test("concurrency: a plugin that gives one call the response of another fails")
    func mixesUp() async {
        let failed = await PluginConformanceTests.failed {
            let first = FirstAnswer()
            return PluginStack.intercept { request, _, next in first.keep(try await next(request)) }
        }
        #expect(failed.contains("concurrency"))
    }

    private final class FirstAnswer: Sendable {
        let response = Mutex<PipelineResponse?>(nil)

        func keep(_ own: PipelineResponse) -> PipelineResponse {
            response.withLock { first in
                if first == nil { first = own }
                return first ?? own
            }
        }
    }
}
