import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestValidation", .watched)
struct RequestValidationTests {
    struct Case: Sendable {
        let change: @Sendable (inout PipelineRequest) throws -> Void
        let code: PipelineError.Code?

        init(_ code: PipelineError.Code?, _ change: @escaping @Sendable (inout PipelineRequest) throws -> Void) {
            self.change = change
            self.code = code
        }
    }

    static let cases: [Case] = [
        Case(nil) { $0.head.path = "/a%2Fb?c=%20d+e?/" },
        Case(nil) { $0.head.path = "/%%41".replacing("%%", with: "%") },
        Case(.invalidRequest(.path)) {
            $0.method = .options
            $0.head.path = "*"
        },
        Case(.invalidRequest(.method)) { $0.method = .connect },
        Case(.invalidRequest(.body)) { $0.body = .stream(AsyncStream<Data> { $0.finish() }, byteCount: -1) },
        Case(nil) { $0.head.authority = "other.example:8443" },
        Case(.invalidRequest(.path)) { $0.head.path = "*" },
        Case(.invalidRequest(.path)) { $0.head.path = nil },
        Case(.invalidRequest(.path)) { $0.head.path = "" },
        Case(.invalidRequest(.path)) { $0.head.path = "a" },
        Case(.invalidRequest(.path)) { $0.head.path = "https://evil.example/" },
        Case(.invalidRequest(.path)) { $0.head.path = "/a b" },
        Case(.invalidRequest(.path)) { $0.head.path = "/CANARY\r\nX: y" },
        Case(.invalidRequest(.path)) { $0.head.path = "/a#b" },
        Case(.invalidRequest(.path)) { $0.head.path = "/é" },
        Case(.invalidRequest(.path)) { $0.head.path = "/100%" },
        Case(.invalidRequest(.path)) { $0.head.path = "/%2" },
        Case(.invalidRequest(.path)) { $0.head.path = "/%41?a=%zz" },
        Case(.invalidRequest(.path)) { $0.appendQuery("a=CANARY\r\nX: y") },
        Case(.invalidRequest(.scheme)) { $0.head.scheme = nil },
        Case(.invalidRequest(.scheme)) { $0.head.scheme = "ftp" },
        Case(.invalidRequest(.authority)) { $0.head.authority = nil },
        Case(.invalidRequest(.authority)) { $0.head.authority = "" },
        Case(.invalidRequest(.authority)) { $0.head.authority = "user:CANARY@example.com" },
        Case(.invalidRequest(.authority)) { $0.head.authority = "h/CANARY" },
        Case(.invalidRequest(.authority)) { $0.head.authority = "h\r\nX: CANARY" },
        Case(.invalidRequest(.headerValue)) { try $0.setHeader("a\r\nCANARY", for: .userAgent) },
        Case(.invalidRequest(.headerValue)) { $0.headers[.contentLength] = "7" },
        Case(.invalidRequest(.headerValue)) { $0.headers[.transferEncoding] = "chunked" },
        Case(nil) { $0.headers[.contentLength] = "0" },
    ]

    @Test("Q01 Q04 Q05 Q08 A request changed by a plugin is validated before it is sent", arguments: 0..<cases.count)
    func checking(_ row: Int) async throws {
        let change = Self.cases[row].change
        let transport = ScriptedTransport(always: .status(200))
        let plugin = ClosureProbe { try change(&$0) }
        let provider = Provider<SampleTarget>(transport: transport, plugins: [plugin])
        guard let code = Self.cases[row].code else {
            #expect(try await provider.request(SampleTarget()).statusCode == 200)
            return
        }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(SampleTarget()) }
        #expect(error?.code == code)
        #expect(error?.description.contains("CANARY") == false)
        #expect(transport.sent.isEmpty)
    }

    @Test("Q05 A Host field may repeat the host but must not differ from it")
    func hostField() async throws {
        let host = try #require(HTTPField.Name("Host"))
        let transport = ScriptedTransport(always: .status(200))
        for (value, isAccepted) in [("EXAMPLE.com", true), ("evil.example", false)] {
            let plugin = ClosureProbe { $0.headers[host] = value }
            let provider = Provider<SampleTarget>(transport: transport, plugins: [plugin])
            let result = await Result { try await provider.request(SampleTarget()) }
            #expect(((try? result.get()) != nil) == isAccepted)
        }
        #expect(transport.sent.count == 1)
    }
}

/// Changes every request with a closure.
private struct ClosureProbe: Stage.Prepare {
    let change: @Sendable (inout PipelineRequest) throws -> Void

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try change(&request)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
