import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPlugin: error responses whose body does not arrive", .tags(.concurrent), .watched)
struct RetryHeadTests {
    /// A transport whose first response has a body that stalls after its first byte.
    private func stalling(_ status: Int, failure: PipelineError? = nil) -> ScriptedTransport {
        ScriptedTransport { _, index in
            guard index == 0 else { return .status(200) }
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("1".utf8))
                if let failure { stream.finish(throwing: failure) }
            }
            return .status(status, headers: [.retryAfter: "20"], body: .stream(body))
        }
    }

    @Test(
        "A response with an error status whose body does not arrive is decided on its head",
        arguments: [503, 501],
        ["attempt", "idle", "attempt of a hop", "lost"]
    )
    func stalledBody(status: Int, end: String) async throws {
        let clock = ManualClock()
        let failure = end == "lost" ? PipelineError(.connectionLost, "by script") : nil
        let transport = stalling(status, failure: failure)
        let hop: [any PluginType] = end == "attempt of a hop" ? [CookiePlugin()] : []
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [RetryPlugin(backoff: .constant(.seconds(1)))] + hop,
            configuration: .init(clock: clock)
        )
        let options = RequestOptions {
            if end == "idle" { $0.idleTimeout = .seconds(3) } else { $0.attemptTimeout = .seconds(3) }
        }
        let start = clock.now
        let result: Result<Int, any Error> = await clock.run {
            do {
                return .success(try await provider.request(Ask(), options: options).statusCode)
            } catch {
                return .failure(error)
            }
        }
        guard status == 501 else {
            #expect(try result.get() == 200)
            #expect(start.duration(to: clock.now) >= .seconds(20))
            #expect(transport.sent.count == 2)
            return
        }
        let error = #expect(throws: PipelineError.self) { try result.get() }
        #expect(error?.statusCode == 501)
        #expect(error?.code != .unacceptableStatus)
        #expect(transport.sent.count == 1)
    }
}
