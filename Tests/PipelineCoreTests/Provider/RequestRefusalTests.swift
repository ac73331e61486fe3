import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Request validation: rule 7", .watched)
struct RequestRefusalTests {
    private let transport = ScriptedTransport(always: .status(200))

    private func failure(
        of target: TestTarget = TestTarget(),
        prepare: @escaping @Sendable (inout PipelineRequest) throws -> Void
    ) async throws -> PipelineError? {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [.prepare(name: "culprit") { request, _ in try prepare(&request) }]
        )
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(transport.sent.isEmpty, "nothing may be sent")
        _ = try await Provider<TestTarget>(transport: transport).request(TestTarget())
        return error
    }

    @Test("Rule 12 (Q01): a header value with a control character is refused; the error names the field, not the value")
    func controlInHeaderValue() async throws {
        let error = try await failure { request in
            request.headers.append(HTTPField(name: .userAgent, lenientValue: Array("canary\u{1}\u{7f}".utf8)))
        }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(error?.reason.contains("User-Agent") == true)
        #expect(error.map { "\($0)" }?.contains("canary") == false)
    }

    @Test(
        "Rule 12 (Q01): setHeader refuses CR, LF and NUL, and the error names the plugin",
        arguments: ["\r\n", "\n", "\r", "\0"]
    )
    func setHeaderRefuses(text: String) async throws {
        let error = try await failure { request in
            try request.setHeader("canary\(text)X-Evil: 1", for: .authorization)
        }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(error?.plugin == "culprit")
        #expect(error?.reason.contains("Authorization") == true)
        #expect(error.map { "\($0)" }?.contains("canary") == false)
    }

    @Test("Rule 12 (Q01): a CR or LF that a plugin writes through HTTPFields cannot split the request")
    func fieldsCannotSplit() async throws {
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [.prepare { request, _ in request.headers[.userAgent] = "a\r\nX-Evil: 1" }]
        )
        _ = try await provider.request(TestTarget())
        let sent = try #require(transport.sent.first)
        #expect(sent.headers.count == 1)
        #expect(sent.headers[.userAgent]?.contains { $0.isNewline } == false)
    }

    @Test(
        "Rule 12 (Q03): a method that is not a token cannot be created",
        arguments: ["GET /evil HTTP/1.1\r\nX: ", "G ET", "", "GET\n"]
    )
    func methodIsAToken(text: String) {
        #expect(HTTPRequest.Method(text) == nil)
    }

    @Test(
        "Rule 12 (Q02): a header name that is not a token is refused",
        arguments: ["X Key", "X:Key", "", "X\r\nY", "é"]
    )
    func headerName(name: String) async throws {
        let error = try await failure(of: TestTarget(headers: [name: "value-canary"])) { _ in }
        #expect(error?.code == .invalidRequest(.headerName))
        #expect(error.map { "\($0)" }?.contains("value-canary") == false)
        #expect(error.map { "\($0)" }?.contains { $0.isNewline } == false)
    }

    @Test(
        "Rule 12 (Q01): a target's header value that could split the request is refused",
        arguments: ["a\r\nX: 1", "a\0", "a\n"]
    )
    func targetHeaderValue(value: String) async throws {
        let error = try await failure(of: TestTarget(headers: ["X-Key": value])) { _ in }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(error?.reason.contains("X-Key") == true)
    }

    @Test("Rule 12 (Q04): an invalid path, host or scheme set by a plugin is refused")
    func brokenTarget() async throws {
        let path = try await failure { $0.head.path = "/a b" }
        #expect(path?.code == .invalidRequest(.path))
        let relative = try await failure { $0.head.path = "a" }
        #expect(relative?.code == .invalidRequest(.path))
        let missing = try await failure { $0.head.path = nil }
        #expect(missing?.code == .invalidRequest(.path))
        let authority = try await failure { $0.head.authority = "canary:canary@host" }
        #expect(authority?.code == .invalidRequest(.authority))
        #expect(authority.map { "\($0) \(String(describing: $0.request))" }?.contains("canary") == false)
        for text in ["a:b:c", "[::1", "127.0.0.1:99999", "h:0", "[1.2.3.4]"] {
            let malformed = try await failure { $0.head.authority = text }
            #expect(malformed?.code == .invalidRequest(.authority), "\(text)")
        }
        let empty = try await failure { $0.head.authority = "" }
        #expect(empty?.code == .invalidRequest(.authority))
        let scheme = try await failure { $0.head.scheme = "file" }
        #expect(scheme?.code == .invalidRequest(.scheme))
    }

    @Test("Rule 12 (Q05): Host, Content-Length and Transfer-Encoding must not contradict the request")
    func framing() async throws {
        let host = try await failure { $0.headers[HTTPField.Name("Host") ?? .accept] = "evil.example" }
        #expect(host?.code == .invalidRequest(.headerValue))
        let length = try await failure {
            $0.body = .bytes(Data("four".utf8))
            $0.headers[.contentLength] = "5"
        }
        #expect(length?.code == .invalidRequest(.headerValue))
        let coding = try await failure { $0.headers[.transferEncoding] = "chunked" }
        #expect(coding?.code == .invalidRequest(.headerValue))
    }

    @Test("Rule 12 (Q05): a framing field that agrees with the request is accepted")
    func agreeingFraming() async throws {
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare { request, _ in
                    request.body = .bytes(Data("four".utf8))
                    request.headers[.contentLength] = "4"
                    if let host = HTTPField.Name("Host") { request.headers[host] = "api.example.com" }
                }
            ]
        )
        _ = try await provider.request(TestTarget(method: .post))
        #expect(transport.sent.count == 1)
    }

    @Test("Rule 12: a request is validated after the last plugin, so a later plugin may repair it")
    func checkedAfterTheLastPlugin() async throws {
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare { request, _ in request.head.path = "broken" },
                .prepare { request, _ in request.head.path = "/mended" },
            ]
        )
        _ = try await provider.request(TestTarget())
        #expect(transport.sent.first?.path == "/mended")
    }
}
