import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: failures of a refresh", .tags(.concurrent), .watched)
struct PipelineErrorTokenRefreshTests: TokenCalls {
    @Test(
        "A03 Beyond the allowed refreshes within the window, a call fails with excessiveRefresh and the 401",
        arguments: [true, false]
    )
    func excessive(isFailing: Bool) async throws {
        let bench = TokenBench { _ in false }
        bench.fail(isFailing)
        let provider = bench.provider(bench.plugin())
        for _ in 1...5 {
            _ = try? await provider.request(Ask.bearer)
            bench.clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask.bearer) }
        #expect(error?.code == .excessiveRefresh)
        #expect(error?.response?.statusCode == 401)
        #expect(error?.reason.contains("the access token was refreshed 5 times within 30 s") == true)
        #expect(bench.expired.count == 5)
        bench.clock.advance(by: .seconds(25))
        _ = try? await provider.request(Ask.bearer)
        #expect(bench.expired.count == 6)
        await #expect(throws: PipelineError.self) { try await provider.request(Ask.bearer) }
        #expect(bench.expired.count == 6)
    }

    @Test(
        "T09 A refresh that times out inside RetryPlugin ends the call at once and takes nothing from the budget",
        arguments: [nil, Duration.zero]
    )
    func timeoutInsideRetry(expiresIn: Duration?) async throws {
        let bench = TokenBench(isGated: true) { _ in false }
        let plugin = bench.plugin(expiresIn: expiresIn, policy: TokenRefreshPolicy(timeout: .seconds(7)))
        let waits = LockedList<Int>()
        let backoff = RetryPolicy.Backoff { attempt, _ in
            waits.append(attempt)
            return .zero
        }
        let provider = bench.provider(RetryPlugin(backoff: backoff), plugin)
        let calls = (0..<5).map { _ in Task { try await provider.request(Ask.bearer) } }
        await bench.waitForCallers(5, of: plugin)
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(7))
        var refusalCount = 0
        for call in calls {
            let error = await #expect(throws: PipelineError.self) { try await call.value }
            #expect(error?.code == .timeout(.tokenRefresh))
            #expect(error?.exchanges.count == (error?.response == nil ? 0 : 1))
            if error?.response != nil { refusalCount += 1 }
        }
        #expect(waits.all == [])
        // Calls that begin while a refresh is in progress send nothing.
        #expect(bench.sent.count == refusalCount)
        #expect((refusalCount > 0) == (expiresIn == nil))
    }

    @Test("A failure before anything is sent has no response; a failure after a 401 has it")
    func response() async throws {
        for expiresIn in [nil, Duration.zero] {
            let bench = TokenBench { _ in false }
            bench.fail()
            let provider = bench.provider(bench.plugin(expiresIn: expiresIn))
            let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask.bearer) }
            #expect(error?.code == .tokenRefresh)
            #expect(error?.response?.statusCode == (expiresIn == nil ? 401 : nil))
            #expect(error?.exchanges.count == (expiresIn == nil ? 1 : 0))
        }
    }

    @Test("A CancellationError thrown by the closure itself is a failure, not a cancellation of the call")
    func closureCancels() async throws {
        let bench = TokenBench(refuses: "old")
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, _ in throw CancellationError() }
        let error = await #expect(throws: PipelineError.self) { try await bench.provider(plugin).request(Ask.bearer) }
        #expect(error?.code == .tokenRefresh)
    }
}
