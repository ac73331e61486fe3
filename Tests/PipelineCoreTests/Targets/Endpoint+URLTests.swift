import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Endpoint.url(_:)", .watched)
struct EndpointURLTests {
    private struct Library: TargetType {
        var base: String
        var path = "books/3"
        let method = HTTPMethod.get
        let task = RequestTask.requestPlain
        var baseURL: URL { Endpoint.url(base) }
    }

    @Test(
        "A valid URL is unchanged",
        arguments: [
            "https://api.example.com", "http://127.0.0.1:8080/v1?a=1", "https://[::1]/v1", "https://host/a%20b",
        ]
    )
    func valid(text: String) {
        #expect(Endpoint.url(text).absoluteString == text)
    }

    @Test(
        "A typo does not trap; the first request fails with an error that shows the host",
        arguments: [
            ("https://api exam.ple/v1", "api exam.ple"),
            ("https://api.example:80a/v1", "api.example"),
            ("https//api.example/v1", "https"),
            ("htps://api.example/v1", "api.example"),
            ("api.example/v1", "api.example"),
            ("https://", "https:"),
        ]
    )
    func typo(text: String, shown: String) async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<Library>(transport: transport)
        let error = await pipelineError { _ = try await provider.request(Library(base: text)) }
        #expect(error?.code.isKind(of: .invalidRequest) == true)
        #expect(error?.reason.contains(shown) == true, "\(error?.reason ?? "")")
        #expect(transport.sent.isEmpty)
    }

    @Test("The error for an empty URL says so")
    func empty() async {
        let provider = Provider<Library>(transport: ScriptedTransport(always: .status(200)))
        let error = await pipelineError { _ = try await provider.request(Library(base: "")) }
        #expect(error?.code == .invalidRequest(.url) && error?.reason == "the URL is empty")
    }

    @Test(
        "Neither the error nor the URL shows a password, a path or a query",
        arguments: [
            "https://user:s3cr3t@api exam.ple/v1", "https://api exam.ple/s3cr3t", "https://api exam.ple?key=s3cr3t",
        ]
    )
    func secrets(text: String) async {
        let target = Library(base: text)
        let provider = Provider<Library>(transport: ScriptedTransport(always: .status(200)))
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code.isKind(of: .invalidRequest) == true)
        #expect(error.map { "\($0)".contains("s3cr3t") } == false)
        #expect(!"\(Endpoint(target))".contains("s3cr3t"))
    }

    @Test(
        "A forged unusable-url is refused, and the error shows none of it",
        arguments: ["..\0\u{1e}", "a%00b", "a%", "%ff", "a b", ""]
    )
    func lookAlike(rest: String) throws {
        for url in ["unusable-url:" + rest, "unusable-url:" + rest + "/path?query"] {
            let error = #expect(throws: PipelineError.self) { try Endpoint(url: url).makeRequest() }
            #expect(error?.code == .invalidRequest(.url) && error?.reason == "the URL is not valid")
        }
    }
}
