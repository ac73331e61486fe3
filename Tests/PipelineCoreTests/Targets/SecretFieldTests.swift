import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Target header fields with secret names", .watched)
struct SecretFieldTests {
    private static let fields = [
        "X-Api-Key": "canary", "X-Session-Token": "canary", "Cookie": "canary", "Authorization": "canary",
        "X-App": "shop",
        "Idempotency-Key": "7",
    ]

    @Test("A redirect to another origin drops the fields and one within the origin keeps them, for any target")
    func redirect() async throws {
        let requests: [any TargetType] = [
            APIRequest<IgnoredBody>("x").serverURL(ServerURL(base: "https://a.test")).addHeaders(Self.fields),
            TestTarget(base: "https://a.test", headers: Self.fields),
        ]
        for target in requests {
            let transport = ScriptedTransport([
                .status(302, headers: [.location: "/y"]), .status(302, headers: [.location: "https://b.test/"]),
                .status(200),
            ])
            _ = try await Provider<MultiTarget>(transport: transport).request(target)
            let counts = transport.sent.map { $0.headers.count { $0.value == "canary" } }
            #expect(counts == [4, 4, 0])
            #expect(transport.sent.allSatisfy { $0.headers.count { $0.value != "canary" } == 2 })
        }
    }

    @Test("Fields with secret names are marked as secret, also if an endpoint closure adds them")
    func marked() throws {
        let endpoint = Endpoint(TestTarget(headers: ["Accept": "a"])).adding(newHTTPHeaderFields: Self.fields)
        let request = try endpoint.makeRequest()
        #expect(
            request.secretFields
                == Set([try #require(HTTPField.Name("X-Api-Key")), try #require(HTTPField.Name("X-Session-Token"))])
        )
        #expect(request.isSecret(.authorization) && request.isSecret(.cookie) && !request.isSecret(.accept))
    }
}
