import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("EndpointController", .watched)
struct EndpointControllerTests {
    private static let own = ServerURL(base: "https://own.example.com", path: "v2")

    private enum None: EndpointController {
        static let endpoint = "a"
    }

    private enum Plain: EndpointController {
        static let server = own
        static let endpoint = "a"
    }

    private enum Computed: EndpointController {
        static var server: ServerURL { own }
        static let endpoint = "a"
    }

    private enum Perhaps: EndpointController {
        static let server: ServerURL? = own
        static let endpoint = "a"
    }

    private enum Nowhere: EndpointController {
        static let server: ServerURL? = nil
        static let endpoint = "a"
    }

    @Test("C7 A controller's server applies however it is declared; without one, the client's server applies")
    func servers() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let requests: [APIRequest<IgnoredBody>] = [
            None.request("1"), Nowhere.request("2"), Plain.request("3"), Computed.request("4"), Perhaps.request("5"),
        ]
        for request in requests { _ = try await bench.api.send(request) }
        #expect(
            bench.transport.sent.compactMap(\.url?.absoluteString) == [
                "https://api.example.com/v1/a/1", "https://api.example.com/v1/a/2", "https://own.example.com/v2/a/3",
                "https://own.example.com/v2/a/4", "https://own.example.com/v2/a/5",
            ]
        )
    }

    private enum Slashes: EndpointController {
        static let endpoint = "/i/"
    }

    @Test("C6 Parts are joined by one slash, slashes within a part stay, and a question mark is escaped")
    func slashes() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let requests: [APIRequest<IgnoredBody>] = [
            Slashes.request("/x"), Slashes.request("x", "/y/", "//z/"), Slashes.request("a//b"), Slashes.request(),
            Slashes.request("a?b=c"), APIRequest("a//", "b"), APIRequest("é/", "/ö"),
        ]
        for request in requests { _ = try await bench.api.send(request) }
        #expect(
            bench.paths == [
                "i/x", "i/x/y/z/", "i/a//b", "i/", "i/a%3Fb=c", "a/b", "%C3%A9/%C3%B6",
            ]
        )
    }
}
