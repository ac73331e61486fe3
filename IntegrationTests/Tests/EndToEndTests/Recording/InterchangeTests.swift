import Foundation
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("mitmproxy and haralyzer", .besideHTTPBin, .besideMitmproxy, .realTime, .watched)
struct InterchangeTests {
    /// The requests to record for other tools: each kind of response and of body once.
    private static let requests: [(method: String, path: String, type: String, body: String?)] = [
        ("GET", "/get?q=a%20b&q=2&empty=&novalue&uml=%C3%BC", "", nil),
        ("GET", "/gzip", "", nil),
        ("GET", "/deflate", "", nil),
        ("GET", "/bytes/256?seed=7", "", nil),
        ("GET", "/image/png", "", nil),
        ("GET", "/encoding/utf8", "", nil),
        ("GET", "/redirect/1", "", nil),
        ("HEAD", "/get", "", nil),
        ("POST", "/post", "application/json", #"{"name": "Grüße", "n": 1.50}"#),
        ("POST", "/post", "application/x-www-form-urlencoded", "a=1&b=%C3%BC+x"),
        ("PUT", "/put", "text/plain; charset=utf-8", "grün"),
        ("PATCH", "/patch", "", nil),
        ("DELETE", "/delete", "", nil),
        ("GET", "/status/204", "", nil),
        ("GET", "/status/404", "", nil),
        ("GET", "/status/418", "", nil),
        ("GET", "/status/500", "", nil),
        ("GET", "/cookies/set?k1=v1&k2=v2", "", nil),
        ("GET", "/response-headers?X-Dup=1&X-Dup=2", "", nil),
        ("GET", "/stream-bytes/1000?seed=1&chunk_size=100", "", nil),
    ]

    @Test("A mitmproxy recording replays the bytes that curl received, and every entry is used")
    func fromMitmproxy() async throws {
        let transport = try ReplayTransport(try #require(Mitmproxy.recording))
        let provider = Provider<InterchangedTarget>(transport: transport, configuration: .init(redirects: .never))
        for request in try Mitmproxy.manifest() {
            let response = try await provider.request(request.target)
            #expect(response.statusCode == request.status, "\(request.method) \(request.url)")
            #expect(response.data == request.received, "\(request.method) \(request.url)")
        }
        try transport.recording.assertAllUsed()
    }

    @Test("Other tools read a recording, replay the same bytes to curl, and find no fault with it")
    func toOthers() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "interchange \(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let har = folder.appending(path: "ours.har")
        let truth = folder.appending(path: "truth.json")
        let exchanged = try await record(to: har)
        try JSONEncoder().encode(exchanged).write(to: truth)

        #expect(try await Mitmproxy.faults(of: har) == "")
        #expect(try await Mitmproxy.findings("parse", har.path) == "")
        #expect(try await Mitmproxy.findings("read", har.path, truth.path) == "")
        #expect(try await Mitmproxy.findings("replay", har.path, truth.path) == "")

        // The same responses must differ from a changed truth; otherwise the checks check nothing.
        var other = exchanged
        other[3].received[0] ^= 1
        try JSONEncoder().encode(other).write(to: truth)
        #expect(try await Mitmproxy.findings("read", har.path, truth.path).contains("entry 3, GET"))
        #expect(try await Mitmproxy.findings("replay", har.path, truth.path).contains("entry 3, GET"))
    }

    /// Records all requests, and returns what a client received.
    private func record(to har: URL) async throws -> [InterchangedRequest] {
        let recorder = try RecordingTransport(
            har,
            wrapping: URLSessionTransport(),
            mode: .recordAll,
            redactor: .revealingSecrets
        )
        let provider = Provider<InterchangedTarget>(transport: recorder, configuration: .init(redirects: .never))
        var exchanged: [InterchangedRequest] = []
        for request in Self.requests {
            var item = InterchangedRequest(
                method: request.method,
                url: HTTPBin.url.absoluteString + request.path,
                contentType: request.type,
                body: request.body.map { Data($0.utf8) },
                status: 0,
                received: Data()
            )
            let response = try await provider.request(item.target)
            item.status = response.statusCode
            item.received = response.data
            exchanged.append(item)
        }
        try await recorder.finish()
        return exchanged
    }
}
