import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Confidential header fields", .watched)
struct PipelineRequestConfidentialTests {
    private static let name = HTTPField.Name("X-Ticket")

    /// Sends a request with the field set, and applies `change` afterwards.
    private func send(
        _ base: String = "https://example.com",
        _ change: @escaping @Sendable (inout PipelineRequest) throws -> Void = { _ in }
    ) async throws -> (ScriptedTransport, PipelineError?) {
        let name = try #require(Self.name)
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare { request, _ in try request.setConfidentialHeader("canary", for: name) },
                .prepare { request, _ in try change(&request) },
            ]
        )
        return (transport, await pipelineError { _ = try await provider.request(TestTarget(base: base)) })
    }

    @Test(
        "A confidential field is secret, and is sent over https and to loopback addresses",
        arguments: ["https://a.test", "http://[::1]"]
    )
    func confidential(base: String) async throws {
        let (transport, error) = try await send(base)
        let request = try #require(transport.sent.first)
        let name = try #require(Self.name)
        #expect(error == nil && request.headers[name] == "canary" && request.isSecret(name))
    }

    @Test("A confidential field is refused over http, also if a later plugin sets the scheme; no error shows it")
    func refused() async throws {
        let (first, direct) = try await send("http://a.test")
        let (second, led) = try await send { $0.head.scheme = "http" }
        let (third, joined) = try await send { request in
            request.head.scheme = "http"
            try request.setHeader("a=canary", for: "x-ticket")
        }
        for error in [direct, led, joined] {
            #expect(error?.code == .invalidRequest(.credential))
            #expect(error.map { "\($0)".contains("canary") } == false)
        }
        #expect(first.sent.isEmpty && second.sent.isEmpty && third.sent.isEmpty)
    }

    @Test("A request whose confidential field was removed or replaced may be sent over http")
    func replaced() async throws {
        let name = try #require(Self.name)
        let changes: [@Sendable (inout PipelineRequest) throws -> Void] = [
            { $0.headers[name] = nil }, { try $0.setHeader("other", for: name) },
        ]
        for change in changes {
            let (transport, error) = try await send { request in
                request.head.scheme = "http"
                try change(&request)
            }
            #expect(error == nil && transport.sent.count == 1)
        }
    }
}
