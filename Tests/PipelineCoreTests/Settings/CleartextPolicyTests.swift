import Pipeline
import TestSupport
import Testing

@Suite("CleartextPolicy", .watched)
struct CleartextPolicyTests {
    @Test(
        "Secrets may be sent over https and to loopback addresses, and over other http only with `.allowed`",
        arguments: [
            ("https://a.test", true), ("http://localhost:8080", true), ("http://api.localhost", true),
            ("http://127.8.9.10", true), ("http://[::1]:1", true),
            ("http://a.test", false), ("http://localhost.a.test", false), ("http://128.0.0.1", false),
        ]
    )
    func allows(url: String, isSafe: Bool) throws {
        let request = try PipelineRequest(url: url)
        #expect(CleartextPolicy.loopbackOnly.allows(request) == isSafe)
        #expect(CleartextPolicy.allowed.allows(request))
    }
}
