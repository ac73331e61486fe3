import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("ScriptedTransport", .tags(.concurrent), .watched)
struct ScriptedTransportTests {
    private struct Zen: TargetType {
        var baseURL: URL
        var path = "/zen"
        var method: HTTPMethod = .get
        var task = RequestTask.requestPlain
    }

    private let zen: Zen

    init() throws {
        zen = Zen(baseURL: try #require(URL(string: "https://api.example")))
    }

    private func failureCode(_ transport: ScriptedTransport) async throws -> PipelineError.Code? {
        do {
            _ = try await Provider<Zen>(transport: transport).request(zen)
            return nil
        } catch let error as PipelineError {
            return error.code
        }
    }

    @Test("A test can wait for a number of requests, and stops waiting if it is cancelled")
    func waiting() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<Zen>(transport: transport)
        async let three: Void = transport.waitForRequests(3)
        async let one: Void = transport.waitForRequests()
        for _ in 0..<2 { _ = try await provider.request(zen) }
        try await one
        let forever = Task { try await transport.waitForRequests(4) }
        _ = try await provider.request(zen)
        try await three
        try await transport.waitForRequests(2)
        #expect(transport.sent.count == 3)
        forever.cancel()
        await #expect(throws: CancellationError.self) { try await forever.value }
        let error = await #expect(throws: WaitTimeout.self) {
            try await WaitTimeout.$pauseCount.withValue(1) { try await transport.waitForRequests(4) }
        }
        #expect(error?.description == "a test waited in vain for 4 requests; 3 have arrived")
    }

    @Test("steps are used in order, and a request after the last one fails")
    func order() async throws {
        let transport = ScriptedTransport([.status(503), .failure(.connectionLost), .status(200, body: "ok")])
        let provider = Provider<Zen>(transport: transport)
        #expect(try await provider.request(zen).statusCode == 503)
        #expect(try await failureCode(transport) == .connectionLost)
        #expect(try await provider.request(zen).data == Data("ok".utf8))
        #expect(try await failureCode(transport) == .transport)
        #expect(transport.sent.count == 4)
    }

    @Test("it records the requests it was sent")
    func sent() async throws {
        let transport = ScriptedTransport(always: .status(200))
        _ = try await Provider<Zen>(transport: transport).request(zen)
        #expect(transport.sent.map(\.path) == ["/zen"])
        #expect(transport.sent.map(\.host) == ["api.example"])
    }

    @Test("header fields of a step are delivered in order, with repeats")
    func headers() async throws {
        var fields = HTTPFields()
        fields[values: .setCookie] = ["b=2", "a=1"]
        let transport = ScriptedTransport(always: .status(200, headers: fields))
        let response = try await Provider<Zen>(transport: transport).request(zen)
        #expect(response.headers[values: .setCookie] == ["b=2", "a=1"])
    }

    @Test("a script can be a function of the request and its index")
    func function() async throws {
        let transport = ScriptedTransport { request, index in .status(200 + index, body: request.path) }
        let provider = Provider<Zen>(transport: transport)
        #expect(try await provider.request(zen).statusCode == 200)
        let second = try await provider.request(zen)
        #expect(second.statusCode == 201)
        #expect(second.data == Data("/zen".utf8))
    }

    @Test("any error can be thrown")
    func anyError() async throws {
        struct Odd: Error {}
        #expect(try await failureCode(ScriptedTransport(always: .failure(Odd()))) == .transport)
    }

    @Test("a Foundation error becomes a real transport's typed error, and a cancellation a CancellationError")
    func foundationErrors() async throws {
        #expect(
            try await failureCode(ScriptedTransport(always: .failure(URLError(.notConnectedToInternet)))) == .offline
        )
        let cancelled = Provider<Zen>(transport: ScriptedTransport(always: .failure(URLError(.cancelled))))
        await #expect(throws: CancellationError.self) { try await cancelled.request(zen) }
    }

    @Test("a step that hangs ends if the call is cancelled")
    func hang() async {
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport { _, _ in
            signal.yield()
            return .hang
        }
        let provider = Provider<Zen>(transport: transport)
        let call = Task { [zen] in try await provider.request(zen) }
        for await _ in started { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
    }

    @Test("a delayed step responds in virtual time")
    func delayed() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .delayed(.seconds(9), .status(204)))
        let provider = Provider<Zen>(transport: transport, configuration: .init(clock: clock))
        let call = Task { [zen] in try await provider.request(zen) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(9))
        #expect(try await call.value.statusCode == 204)
    }

    @Test("it passes the conformance suite with the sample responses as its script")
    func conformance() async {
        let violations = await TransportConformance(.sampled) {
            ScriptedTransport(
                always: .answer { request, context in
                    guard case .response(let head, let data) = context.endpoint.sampleResponse?().kind else {
                        throw PipelineError(.transport, "no sample")
                    }
                    return PipelineResponse(request: request, head: head, body: .bytes(data))
                }
            )
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
