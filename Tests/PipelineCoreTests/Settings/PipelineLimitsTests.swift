import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("ProviderConfiguration.Limits", .watched)
struct PipelineLimitsTests {
    static func provider(
        _ limits: ProviderConfiguration.Limits,
        _ step: ScriptedTransport.Step
    ) -> Provider<SampleTarget> {
        Provider(
            transport: ScriptedTransport { _, index in index == 0 ? step : .status(200) },
            configuration: .init(limits: limits)
        )
    }

    /// Sends a second call if the first fails; the second must succeed.
    static func outcome(
        _ limits: ProviderConfiguration.Limits,
        _ step: ScriptedTransport.Step,
        headers: [String: String]? = nil
    ) async throws -> PipelineError.Code? {
        let provider = provider(limits, step)
        let target = try SampleTarget { $0.headers = headers }
        do {
            _ = try await provider.request(target)
        } catch let error as PipelineError {
            _ = try await provider.request(SampleTarget())
            #expect(error.request?.host == "example.com")
            return error.code
        }
        return nil
    }

    static func stream(_ count: Int) -> PipelineBody {
        .stream(
            AsyncStream { continuation in
                for _ in 0..<count { continuation.yield(Data("x".utf8)) }
                continuation.finish()
            }
        )
    }

    @Test("The defaults match the documentation")
    func defaults() {
        let limits = ProviderConfiguration.Limits()
        #expect(limits.bufferedBodyByteCount == 104_857_600)
        #expect(limits.headerByteCount == 65_536)
        #expect(limits.headerCount == 1_000)
        #expect(limits.discardedBodyByteCount == 65_536)
        #expect(limits.discardedBodyDuration == .seconds(1))
        #expect(limits.exchangeCount == 1_000)
        #expect(limits.nestedCallCount == 10)
        #expect(limits == ProviderConfiguration.Limits())
    }

    @Test("A body of exactly the limit is buffered; one byte more fails", arguments: [0, 1, 100])
    func bufferedBody(_ limit: Int) async throws {
        let limits = ProviderConfiguration.Limits(bufferedBodyByteCount: limit)
        let text = String(repeating: "x", count: limit)
        #expect(try await Self.outcome(limits, .status(200, body: text)) == nil)
        #expect(try await Self.outcome(limits, .status(200, body: text + "x")) == .limit(.bodyBytes))
        #expect(try await Self.outcome(limits, .status(200, body: Self.stream(limit))) == nil)
        #expect(try await Self.outcome(limits, .status(200, body: Self.stream(limit + 1))) == .limit(.bodyBytes))
    }

    @Test("A streamed call has no body limit")
    func streamedBody() async throws {
        let provider = Self.provider(
            ProviderConfiguration.Limits(bufferedBodyByteCount: 1),
            .status(200, body: Self.stream(5))
        )
        var count = 0
        for try await chunk in try await provider.stream(SampleTarget()).body { count += chunk.count }
        #expect(count == 5)
    }

    @Test("As many header fields as the limit are accepted; one more fails, in a request and in a response")
    func headerCount() async throws {
        let limits = ProviderConfiguration.Limits(headerCount: 2)
        let two: HTTPFields = [.accept: "a", .accept: "b"]
        let three: HTTPFields = [.accept: "a", .accept: "b", .accept: "c"]
        #expect(try await Self.outcome(limits, .status(200, headers: two)) == nil)
        #expect(try await Self.outcome(limits, .status(200, headers: three)) == .limit(.headerCount))
        #expect(try await Self.outcome(limits, .status(200), headers: ["A": "", "B": ""]) == nil)
        let sent = ["A": "", "B": "", "C": ""]
        #expect(try await Self.outcome(limits, .status(200), headers: sent) == .limit(.headerCount))
    }

    @Test("The header byte count has names, values and four bytes per field")
    func headerBytes() async throws {
        let limits = ProviderConfiguration.Limits(headerByteCount: 20)
        let value = String(repeating: "v", count: 10)
        #expect(try await Self.outcome(limits, .status(200, headers: [.accept: value])) == nil)
        #expect(try await Self.outcome(limits, .status(200, headers: [.accept: value + "v"])) == .limit(.headerBytes))
        #expect(try await Self.outcome(limits, .status(200), headers: ["Accept": value]) == nil)
        #expect(try await Self.outcome(limits, .status(200), headers: ["Accept": value + "v"]) == .limit(.headerBytes))
    }

    @Test("A limit error states the actual and the allowed amount, and shows no value")
    func reasons() async throws {
        let step = ScriptedTransport.Step.status(200, headers: [.accept: "CANARY-CANARY"])
        let provider = Self.provider(ProviderConfiguration.Limits(headerByteCount: 10), step)
        let error = await #expect(throws: PipelineError.self) { try await provider.request(SampleTarget()) }
        #expect(error?.reason == "23 bytes of header fields; limits.headerByteCount is 10")
        #expect(error?.description.contains("CANARY") == false)
        #expect(error?.exchanges.count == 1)
    }

    @Test(
        "A redirect whose body is too long is followed",
        arguments: [3, 4, 500]
    )
    func discardedBody(_ count: Int) async throws {
        let redirect = ScriptedTransport.Step.status(302, headers: [.location: "/next"], body: Self.stream(count))
        let provider = Self.provider(ProviderConfiguration.Limits(discardedBodyByteCount: 3), redirect)
        let response = try await provider.request(SampleTarget())
        #expect(response.statusCode == 200)
        #expect(response.request.path == "/next")
        #expect(response.exchanges.count == 2)
    }

    @Test("A plugin that calls its own provider fails at the limit")
    func nestedCalls() async throws {
        struct Nesting: Stage.Prepare {
            func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
                let provider = Provider<SampleTarget>(
                    transport: ScriptedTransport(always: .status(200)),
                    plugins: [Nesting()],
                    configuration: .init(limits: context.limits)
                )
                _ = try await provider.request(SampleTarget())
            }
        }
        let provider = Provider<SampleTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [Nesting()],
            configuration: .init(limits: ProviderConfiguration.Limits(nestedCallCount: 3))
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(SampleTarget()) }
        #expect(error?.code == .limit(.nestedCalls))
        #expect(error?.reason.contains("3") == true)
    }

    @Test("An invalid limit traps")
    func preconditions() async {
        await #expect(processExitsWith: .failure) { _ = ProviderConfiguration.Limits(bufferedBodyByteCount: -1) }
        await #expect(processExitsWith: .failure) { _ = ProviderConfiguration.Limits(headerCount: 0) }
        await #expect(processExitsWith: .failure) {
            _ = ProviderConfiguration.Limits(discardedBodyDuration: .nanoseconds(-1))
        }
    }
}
