import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("RequestMatching", .watched)
struct RequestMatchingTests {
    static func request(
        _ url: String = "https://api.example/a",
        _ method: String = "GET",
        type: String? = nil,
        body: String? = nil,
        headers: HTTPFields = [:]
    ) -> RecordedExchange.Request {
        var headers = headers
        if let type { headers[.contentType] = type }
        return .init(method: method, url: url, headers: headers, body: body.map { Data($0.utf8) })
    }

    /// Returns whether a recording of one request matches the other.
    static func matches(
        _ live: RecordedExchange.Request,
        _ recorded: RecordedExchange.Request,
        _ matching: RequestMatching
    ) async throws -> Bool {
        let bench = try RecordingBench()
        var file = HARFile()
        file.append(HAREntry(RecordedExchange(request: recorded, response: .init(status: 200))))
        try file.write(to: bench.file)
        let replay = try ReplayTransport(bench.file, matching: matching)
        let provider = bench.provider(replay) { request in
            request = try PipelineRequest(
                HTTPRequest.Method(rawValue: live.method) ?? .get,
                url: live.url,
                headers: live.headers,
                body: live.body.map { .bytes($0) } ?? .absent
            )
        }
        let code = try await provider.failureCode(bench.target())
        #expect(code == nil || code == .noMatch)
        return code == nil
    }

    @Test(
        "only the listed parts of a request are compared",
        arguments: [
            (RequestMatching.Part.method, false), (.scheme, false), (.host, false), (.port, false), (.path, false),
            (.query(), false), (.body(), false), (.header(.accept), false), (.custom("any") { _, _ in true }, true),
        ]
    )
    func parts(part: RequestMatching.Part, isMatch: Bool) async throws {
        let live = Self.request("http://h:1/a?x=1", "POST", body: "1", headers: [.accept: "a"])
        let recorded = Self.request("https://g:2/b?x=2", "PUT", body: "2", headers: [.accept: "b"])
        #expect(try await Self.matches(live, recorded, [part]) == isMatch)
        #expect(try await Self.matches(live, recorded, []))
        #expect(try await Self.matches(live, live, [part]))
    }

    @Test("a closure compares redacted requests and chooses among otherwise matching entries")
    func closure() async throws {
        let bench = try RecordingBench()
        var file = HARFile()
        for (number, value) in ["x", "y", "x"].enumerated() {
            let recorded = Self.request("https://api.example/?k=\(value)", headers: [.authorization: "Bearer canary-1"])
            file.append(
                HAREntry(
                    RecordedExchange(request: recorded, response: .init(status: 200, body: Data("\(number)".utf8)))
                )
            )
        }
        try file.write(to: bench.file)
        let matching: RequestMatching = [
            .method,
            .custom("key") { live, recorded in
                #expect(live.headers[.authorization] == "Bearer REDACTED")
                #expect(recorded.headers[.authorization] == "Bearer REDACTED")
                return live.url == recorded.url
            },
        ]
        let replay = try ReplayTransport(bench.file, matching: matching)
        func provider(_ value: String) -> Provider<Probe> {
            bench.provider(replay) { request in
                request.appendQuery("k=\(value)")
                request.headers[.authorization] = "Bearer canary-2"
            }
        }
        #expect(try await provider("y").request(bench.target()).data == Data("1".utf8))
        #expect(try await provider("x").request(bench.target()).data == Data("0".utf8))
        #expect(try await provider("x").request(bench.target()).data == Data("2".utf8))
        #expect(try await provider("x").failureCode(bench.target()) == .usedUp)
        let failure = try await provider("z").failure(bench.target())
        #expect(failure?.reason.contains("\": key differs\n") == true)
    }

    private static let ignoringAll: [RequestMatching] = [
        RequestMatching.standard.ignoring(.port).ignoring(query: ["ts"]).ignoring(body: ["when"]),
        joined.ignoring(body: ["when"]).ignoring(.port).ignoring(query: ["ts"]),
        joined.ignoring(.url).ignoring(.body(.bytes)),
        inOrder.ignoring(query: ["ts"]),
        fields.ignoring(.header(.accept)).ignoring(.custom("a") { _, _ in true }),
    ]
    private static let ignoringSome: [RequestMatching] = [
        RequestMatching.standard.ignoring(.port).ignoring(query: ["ts"]).ignoring(body: ["at"]),
        RequestMatching.standard.ignoring(.port).ignoring(body: ["when"]),
        RequestMatching.standard.ignoring(query: ["ts"]).ignoring(body: ["when"]),
        joined.ignoring(query: ["ts"]).ignoring(.body()),
        fields.ignoring(.header(.accept)),
        fields.ignoring(.custom("a") { _, _ in true }),
    ]
    private static let joined: RequestMatching = {
        let first: RequestMatching = [.method, .query(ignoring: ["y"])]
        let second: RequestMatching = [.port, .body(.json)]
        return first + second
    }()
    private static let inOrder: RequestMatching = [.query(inOrder: true, ignoring: ["y"])]
    private static let fields: RequestMatching = [.header(.accept), .custom("a") { _, _ in false }, .path]

    @Test("ignored parts are not compared, even in a joined list", arguments: ignoringAll.indices)
    func ignoring(index: Int) async throws {
        #expect(try await Self.matchesLater(Self.ignoringAll[index]))
    }

    @Test("parts that are not ignored are compared", arguments: ignoringSome.indices)
    func notIgnoring(index: Int) async throws {
        #expect(try await !Self.matchesLater(Self.ignoringSome[index]))
    }

    /// Returns whether a request matches one that was recorded at another time and on another port.
    private static func matchesLater(_ matching: RequestMatching) async throws -> Bool {
        func request(_ port: Int, _ query: String, _ time: String) -> RecordedExchange.Request {
            let body = #"{"items":[{"when":\#(time),"n":1}],"when":{"n":\#(time)}}"#
            let url = "http://h:\(port)/a?\(query)"
            return self.request(url, "POST", type: "application/json", body: body, headers: [.accept: time])
        }
        return try await matches(request(1, "ts=1&x=1", "1"), request(2, "x=1&ts=2", "2"), matching)
    }

    @Test("lists can be joined")
    func joined() async throws {
        let matching = RequestMatching.standard + [.header(.accept)]
        #expect(try await !Self.matches(Self.request(headers: [.accept: "a"]), Self.request(), matching))
        #expect(try await Self.matches(Self.request(headers: [.accept: "a"]), Self.request(), .standard))
    }
}
