import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("StubTransport", .tags(.concurrent), .watched)
struct StubTransportTests {
    private let target: Probe
    private let clock = ManualClock()

    init() throws {
        target = Probe(try #require(URL(string: "https://api.example")))
    }

    private func makeProvider(
        _ transport: StubTransport = StubTransport(),
        sample: (@Sendable () -> EndpointSampleResponse)? = nil
    ) -> Provider<Probe> {
        Provider(transport: transport, configuration: .init(redirects: .never, clock: clock)) { target in
            var endpoint = Endpoint(target)
            endpoint.sampleResponse = sample
            return endpoint
        }
    }

    /// A transport with a client certificate.
    private struct Certified: Transport {
        let decodesContent = false

        func identity(for request: PipelineRequest) -> String? { "certificate" }
        func enforcesIdleTimeout(_ timeout: Duration) -> Bool { true }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            PipelineResponse(request: request, statusCode: 200)
        }
    }

    @Test("A stub has the identity and the idle timeout of the transport that it wraps")
    func wrappedTransport() throws {
        let stub = StubTransport(.never, wrapping: Certified())
        #expect(stub.identity(for: try PipelineRequest(url: "https://api.example/")) == "certificate")
        #expect(stub.enforcesIdleTimeout(.seconds(1)))
        #expect(!StubTransport().enforcesIdleTimeout(.seconds(1)))
    }

    @Test("without a sample response, the response is 200 with the target's sample data")
    func sampleData() async throws {
        let response = try await makeProvider().request(target)
        #expect(response.statusCode == 200)
        #expect(response.data == Data("sample".utf8))
        #expect(response.headers.isEmpty)
    }

    @Test(
        "without a sample response, the status is 200, else the lowest accepted success, else the lowest accepted",
        arguments: [
            (ValidationType.anyStatus, 200), (.successCodes, 200), (.successAndRedirectCodes, 200),
            (.customCodes([404, 201, 200]), 200), (.customCodes([404, 204, 201]), 201), (.customCodes([204]), 204),
            (.customCodes([777, 404]), 404), (.customCodes([777]), 777), (.customCodes([7]), 200),
        ]
    )
    func acceptedStatus(validationType: ValidationType, status: Int) async throws {
        struct Picky: TargetType {
            let baseURL: URL
            let validationType: ValidationType
            let path = "x"
            let method = HTTPMethod.delete
            let task = RequestTask.requestPlain
        }
        let target = Picky(baseURL: target.baseURL, validationType: validationType)
        let provider = Provider<MultiTarget>(transport: StubTransport())
        let answered = try? await provider.request(target).statusCode
        #expect(answered == (status == 200 && !validationType.accepts(200) ? nil : status))
    }

    @Test("without a sample, the decoding error names the target, its method and its path, but not its query")
    func noSample() async throws {
        var probe = target
        probe.sampleData = Data()
        probe.path = "/users"
        probe.task = .requestQuery(["page": "canary"])
        let (target, provider) = (probe, makeProvider())
        let response = try await provider.request(target)
        #expect(response.statusCode == 200 && response.data.isEmpty)
        let note = "empty: Probe has no sampleData for GET /users"
        let decoding = await #expect(throws: PipelineError.self) { try await provider.request(target, as: [Int].self) }
        #expect(decoding?.reason == "the body does not decode to Array<Int>: it is \(note)")
        let json = #expect(throws: PipelineError.self) { try response.mapJSON() }
        #expect(json?.reason == "the body is \(note)")
        let path = #expect(throws: PipelineError.self) { try response.mapString(atKeyPath: "a") }
        #expect(path?.reason == "the body is \(note)")
        let client = APIClient(Provider<MultiTarget>(transport: StubTransport()), server: ServerURL(base: "https://h"))
        let number = await #expect(throws: PipelineError.self) { try await client.send(APIRequest<Int>("count")) }
        #expect(
            number?.reason
                == "the body is not a valid Int: it is empty: APIRequest<Int> has no sampleData for GET /count"
        )
        _ = try await client.send(APIRequest<IgnoredBody>("x"))
    }

    @Test("an empty sample set by the endpoint is intended, and no error asks for another one")
    func emptySample() async throws {
        let provider = makeProvider { .networkResponse(200, Data()) }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target, as: [Int].self) }
        #expect(error?.reason == "the body does not decode to Array<Int>: it is empty")
    }

    @Test("networkResponse responds with a status and a body")
    func networkResponse() async throws {
        let response = try await makeProvider { .networkResponse(418, Data("tea".utf8)) }.request(target)
        #expect(response.statusCode == 418)
        #expect(response.data == Data("tea".utf8))
    }

    @Test("response responds with a complete response, including repeated fields")
    func wholeResponse() async throws {
        var head = HTTPResponse(status: .init(code: 203))
        head.headerFields[values: .setCookie] = ["a=1", "b=2"]
        let whole = head
        let response = try await makeProvider { .response(whole, Data("body".utf8)) }.request(target)
        #expect(response.statusCode == 203)
        #expect(response.headers[values: .setCookie] == ["a=1", "b=2"])
        #expect(response.data == Data("body".utf8))
    }

    @Test("a sample response that is a redirect is not followed if the policy follows none")
    func redirect() async throws {
        let response = try await makeProvider { .networkResponse(302, Data()) }.request(target)
        #expect(response.statusCode == 302)
        #expect(response.exchanges.first?.refusedRedirect == .disabled)
    }

    @Test(
        "networkError with a URLError fails with the same typed error as a network",
        arguments: [
            (URLError.Code.cannotConnectToHost, PipelineError.Code.connect(.refused)),
            (.cannotFindHost, .dns),
            (.dnsLookupFailed, .dns),
            (.timedOut, .timeout(.idle)),
            (.networkConnectionLost, .connectionLost),
            (.notConnectedToInternet, .offline),
            (.secureConnectionFailed, .tls(.handshake)),
            (.serverCertificateUntrusted, .tls(.certificate)),
            (.serverCertificateHasBadDate, .tls(.certificate)),
            (.serverCertificateHasUnknownRoot, .tls(.certificate)),
            (.serverCertificateNotYetValid, .tls(.certificate)),
            (.clientCertificateRequired, .tls(.handshake)),
            (.clientCertificateRejected, .tls(.handshake)),
            (.badServerResponse, .malformedResponse),
            (.cannotDecodeContentData, .contentCoding(.corrupt)),
            (.badURL, .invalidRequest(.url)),
            (.fileDoesNotExist, .file(.unreadable)),
            (.unknown, .transport),
        ]
    )
    func urlErrors(code: URLError.Code, expected: PipelineError.Code) async throws {
        let failure = try await makeProvider { .networkError(URLError(code)) }.failure(target)
        #expect(failure?.code == expected)
        #expect((failure?.underlyingError as? URLError)?.code == code)
    }

    @Test("networkError fails with a given PipelineError, and with the code transport for any other error")
    func otherErrors() async throws {
        struct Odd: Error {}
        let typed = makeProvider { .networkError(PipelineError(.timeout(.connect), "slow")) }
        #expect(try await typed.failureCode(target) == .timeout(.connect))
        let odd = try await makeProvider { .networkError(Odd()) }.failure(target)
        #expect(odd?.code == .transport)
        #expect(odd?.underlyingError is Odd)
    }

    @Test("networkError with a cancellation throws CancellationError")
    func cancelledError() async throws {
        let provider = makeProvider { .networkError(URLError(.cancelled)) }
        await #expect(throws: CancellationError.self) { _ = try await provider.request(target) }
    }

    @Test("a delayed stub responds when its delay has passed, and not before")
    func delayed() async throws {
        let provider = makeProvider(StubTransport(.delayed(.seconds(2))))
        let isAnswered = Atomic(false)
        let call = Task { [target] in
            let response = try await provider.request(target)
            isAnswered.store(true, ordering: .sequentiallyConsistent)
            return response
        }
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.sleeperCount == 1)
        let isTooEarly = isAnswered.load(ordering: .sequentiallyConsistent)
        #expect(!isTooEarly)
        clock.advance(by: .milliseconds(1))
        #expect(try await call.value.statusCode == 200)
    }

    @Test("the sample response is read when the response is due")
    func sampleIsRead() async throws {
        let isRead = Mutex(false)
        let provider = makeProvider(StubTransport(.delayed(.seconds(2)))) {
            isRead.withLock { $0 = true }
            return .networkResponse(200, Data())
        }
        let call = Task { [target] in try await provider.request(target) }
        try await clock.waitForSleepers()
        let isReadEarly = isRead.withLock { $0 }
        #expect(!isReadEarly)
        clock.advance(by: .seconds(2))
        _ = try await call.value
        let isReadAtLast = isRead.withLock { $0 }
        #expect(isReadAtLast)
    }

    @Test("a delayed stub ends at once when the call is cancelled")
    func cancelledDelay() async throws {
        let provider = makeProvider(StubTransport(.delayed(.seconds(2))))
        let call = Task { [target] in try await provider.request(target) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .zero)
    }

    @Test("a delay longer than the attempt timeout fails with timeout.attempt")
    func attemptTimeout() async throws {
        let provider = makeProvider(StubTransport(.delayed(.seconds(2))))
        var target = target
        target.options.attemptTimeout = .seconds(1)
        let call = Task { [target] in try await provider.failureCode(target) }
        try await clock.waitForSleepers(2)
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        #expect(try await call.value == .timeout(.attempt))
    }

    @Test("a target that is not stubbed goes to the wrapped transport")
    func neverWithTransport() async throws {
        let wrapped = ScriptedTransport(always: .status(201, body: "wrapped"))
        let provider = makeProvider(StubTransport(.never, wrapping: wrapped))
        let response = try await provider.request(target)
        #expect(response.data == Data("wrapped".utf8))
        #expect(wrapped.sent.count == 1)
    }

    @Test("a target that is not stubbed fails with stubWithoutTransport if no transport is wrapped")
    func neverWithoutTransport() async throws {
        let provider = makeProvider(StubTransport(.never))
        #expect(try await provider.failureCode(target) == .stubWithoutTransport)
    }

    @Test("the closure decides how each target is stubbed, and receives the innermost target")
    func perTarget() async throws {
        let wrapped = ScriptedTransport(always: .status(201))
        let stub = StubTransport(wrapping: wrapped) { ($0 as? Probe)?.path == "/new" ? .immediate : .never }
        let provider = Provider<MultiTarget>(transport: stub)
        var new = target
        new.path = "/new"
        #expect(try await provider.request(new).statusCode == 200)
        #expect(try await provider.request(target).statusCode == 201)
    }

    @Test("it decodes content if the wrapped transport does", arguments: [true, false])
    func decodesContent(wrapped: Bool) {
        let stub = StubTransport(.never, wrapping: ScriptedTransport(always: .hang, decodesContent: wrapped))
        #expect(stub.decodesContent == wrapped)
        #expect(!StubTransport().decodesContent)
    }
}
