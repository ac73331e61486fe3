import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Limits and content coding: rules 9 and 10", .watched)
struct ProviderLimitsTests {
    @Test("Rule 14: the core decodes nothing and keeps Content-Encoding; explain reports a transport that decodes")
    func contentCoding() async throws {
        let bytes = Data([0x1f, 0x8b, 8, 0, 1, 2, 3])
        let wire = ScriptedTransport(always: .status(200, headers: [.contentEncoding: "gzip"], body: .bytes(bytes)))
        let provider = Provider<TestTarget>(transport: wire)
        let response = try await provider.request(TestTarget())
        #expect(response.data == bytes)
        #expect(response.headers[.contentEncoding] == "gzip")
        #expect(!provider.explain().transportDecodesContent)

        let decoding = ScriptedTransport(always: .status(200), decodesContent: true)
        #expect(Provider<TestTarget>(transport: decoding).explain().transportDecodesContent)
    }

    @Test(
        "Rule 15: a body larger than the limit fails with limit.bodyBytes, in memory and as a stream",
        arguments: [false, true]
    )
    func bodyLimit(isStream: Bool) async throws {
        func body(_ count: Int) -> PipelineBody {
            guard isStream else { return .bytes(Data(count: count)) }
            let chunks = Array(repeating: Data(count: 1), count: count)
            return .stream(
                AsyncStream { continuation in
                    for chunk in chunks { continuation.yield(chunk) }
                    continuation.finish()
                }
            )
        }
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([.status(200, body: body(101)), .status(200, body: body(100))]),
            configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 100))
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }
        #expect(error?.code == .limit(.bodyBytes))
        #expect(error?.reason.contains("100 bytes") == true)
        #expect(try await provider.request(TestTarget()).data.count == 100)
    }

    @Test("Rule 15 (H09, H10): too large or too many header fields fail with a limit error, sent and received")
    func headerLimits() async throws {
        let limits = ProviderConfiguration.Limits(headerByteCount: 100, headerCount: 3)
        var many = HTTPFields()
        for _ in 0..<4 { many.append(HTTPField(name: .vary, value: "a")) }
        let large: HTTPFields = [.server: String(repeating: "x", count: 200)]

        let received = Provider<TestTarget>(
            transport: ScriptedTransport([.status(200, headers: many), .status(200, headers: large), .status(200)]),
            configuration: .init(limits: limits)
        )
        let tooMany = await pipelineError { _ = try await received.request(TestTarget()) }
        #expect(tooMany?.code == .limit(.headerCount))
        let tooLarge = await pipelineError { _ = try await received.request(TestTarget()) }
        #expect(tooLarge?.code == .limit(.headerBytes))
        #expect(try await received.request(TestTarget()).statusCode == 200)

        let transport = ScriptedTransport(always: .status(200))
        let sent = Provider<TestTarget>(
            transport: transport,
            plugins: [.prepare { request, _ in request.headers = large }],
            configuration: .init(limits: limits)
        )
        let refused = await pipelineError { _ = try await sent.request(TestTarget()) }
        #expect(refused?.code == .limit(.headerBytes))
        #expect(transport.sent.isEmpty)
    }

    @Test("Rule 15: a call makes no more exchanges than allowed, whatever its plugins do")
    func exchangeLimit() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    while true { _ = try await next(request) }
                }
            ],
            configuration: .init(limits: ProviderConfiguration.Limits(exchangeCount: 5))
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }
        #expect(error?.code == .limit(.exchanges))
        #expect(error?.exchanges.count == 5)
        #expect(transport.sent.count == 5)
    }

    @Test("Rule 15: attempts that fail before an exchange also count")
    func attemptLimit() async throws {
        let attempts = Journal()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .intercept { request, _, next in
                    for _ in 0..<20 { _ = try? await next(request) }
                    return try await next(request)
                },
                .prepare { _, _ in
                    attempts.add("attempt")
                    throw TestFailure()
                },
            ],
            configuration: .init(limits: ProviderConfiguration.Limits(exchangeCount: 5))
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }
        #expect(error?.code == .limit(.exchanges))
        #expect(attempts.entries.count == 5)
    }

    @Test("Rule 15 (P04): nested calls fail with limit.nestedCalls after ten levels, and the next call works")
    func nestedCalls() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let depth = Journal()
        let recursive = Recursion(transport: transport, depth: depth)
        let error = await pipelineError { _ = try await recursive.makeProvider().request(TestTarget()) }
        #expect(error?.code == .limit(.nestedCalls))
        #expect(depth.entries.count == 10)
        #expect(try await Provider<TestTarget>(transport: transport).request(TestTarget()).statusCode == 200)
    }

    private struct Recursion: Sendable {
        let transport: ScriptedTransport
        let depth: Journal

        func makeProvider() -> Provider<TestTarget> {
            Provider(
                transport: transport,
                plugins: [
                    .prepare { _, _ in
                        depth.add("deeper")
                        _ = try await makeProvider().request(TestTarget())
                    }
                ]
            )
        }
    }

    @Test("Rule 16 (P04): plugins may make calls and share values at every stage without a deadlock")
    func reentrancy() async throws {
        enum Seen: PipelineContext.Key { static let defaultValue = 0 }
        let inner = Provider<TestTarget>(transport: ScriptedTransport(always: .status(204)))
        let finished = AsyncStream.makeStream(of: Int.self)
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .prepare { _, context in
                    context.update(Seen.self) { $0 += 1 }
                    _ = try await inner.request(TestTarget())
                },
                .willSend { _, context in
                    context.update(Seen.self) { $0 += 1 }
                    inner.request(TestTarget()) { result in
                        if case .success(let response) = result { finished.continuation.yield(response.statusCode) }
                    }
                },
                .didReceive { _, context in
                    let count = context.exchanges.count
                    context.update(Seen.self) { $0 += count }
                },
                .process { result, context in
                    context.update(Seen.self) { $0 += 1 }
                    guard case .success(var response) = result else { return }
                    response.headers[.age] = "\(context[Seen.self])"
                    result = .success(response)
                },
            ]
        )
        let response = try await provider.request(TestTarget())
        #expect(response.headers[.age] == "4")
        var iterator = finished.stream.makeAsyncIterator()
        #expect(await iterator.next() == 204)
    }
}
