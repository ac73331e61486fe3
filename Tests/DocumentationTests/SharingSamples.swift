import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide SharingAndCompression.
enum SharingSamples {
    struct Account: Codable {
        let name: String
    }

    struct Report: Codable, Equatable {
        let lines: [String]
    }

    static func sharing(_ transport: any Transport) -> (DeduplicationPlugin, Provider<URLTarget>) {
        // sample: calls
        let sharing = DeduplicationPlugin()
        let provider = Provider<URLTarget>(transport: transport, plugins: [sharing])
        // end
        return (sharing, provider)
    }

    static func names(_ provider: Provider<URLTarget>) async throws -> [String] {
        // sample: calls
        async let badge = provider.get("https://api.example.com/account", as: Account.self)
        async let settings = provider.get("https://api.example.com/account", as: Account.self)
        let names = try await [badge.name, settings.name]  // one exchange
        // end
        return names
    }

    static func options(_ provider: Provider<URLTarget>) async throws -> [Account] {
        let query = ["name": "Ann"]
        // sample: options
        let shared = RequestOptions { $0.deduplication = .on }  // this POST changes nothing on the server
        let url = "https://api.example.com/search"
        async let found = provider.send(query, to: url, as: [Account].self, options: shared)
        let own = RequestOptions { $0.deduplication = .off }  // this GET must not join an earlier one
        async let fresh = provider.get("https://api.example.com/account", as: Account.self, options: own)
        // end
        return try await found + [fresh]
    }

    static func sent(_ report: Report, over transport: any Transport) async throws -> Report {
        // sample: gzip
        let plugins = [GzipPlugin(requestCompression: .always)]  // this server decodes gzip
        let provider = Provider<URLTarget>(transport: transport, plugins: plugins)
        let stored = try await provider.send(report, to: "https://api.example.com/reports", as: Report.self)
        // end
        return stored
    }

    static func compressed(_ report: Report, _ provider: Provider<URLTarget>) async throws {
        // sample: call
        let compressed = RequestOptions { $0.requestCompression = .always }
        try await provider.send(report, to: "https://api.example.com/reports", options: compressed)
        // end
    }

    static func limited() -> GzipPlugin {
        // sample: limits
        let gzip = GzipPlugin(limits: GzipPlugin.Limits(decodedByteCount: 1 << 20, ratio: 20))
        // end
        return gzip
    }
}

@Suite("The samples of the guide SharingAndCompression", .watched)
struct SharingSamplesTests {
    private let clock = ManualClock()
    private let account = URLTarget("https://api.example.com/account")

    /// Returns a transport that responds a second later on the test's clock.
    private func slow(_ body: @escaping @Sendable (PipelineRequest) -> String) -> ScriptedTransport {
        ScriptedTransport(
            always: .answer { [clock] request, _ in
                try await clock.sleep(for: .seconds(1))
                return PipelineResponse(request: request, statusCode: 200, data: Data(body(request).utf8))
            }
        )
    }

    // MARK: Sharing

    @Test("Two equal GETs at the same time share one exchange")
    func sharing() async throws {
        let transport = slow { _ in #"{"name": "Ann"}"# }
        let (sharing, provider) = SharingSamples.sharing(transport)
        let names = Task { try await SharingSamples.names(provider) }
        await eventually { sharing.callerCount == 2 }
        try await clock.advanceToNextSleeper()
        #expect(try await names.value == ["Ann", "Ann"])
        #expect(transport.sent.count == 1)
    }

    @Test("Two accounts do not share an exchange")
    func accounts() async throws {
        let transport = slow { $0.headers[.authorization] ?? "" }
        let (_, provider) = SharingSamples.sharing(transport)
        let calls = ["Bearer ann", "Bearer bob"].map { token in
            var target = account
            target.headers = ["Authorization": token]
            return Task { [target] in try await provider.request(target).mapString() }
        }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        for (call, token) in zip(calls, ["Bearer ann", "Bearer bob"]) {
            #expect(try await call.value == token)
        }
        #expect(transport.sent.count == 2)
    }

    @Test("A cancelled caller ends at once, and the other one gets the response")
    func cancellation() async throws {
        let transport = slow { _ in "Ann" }
        let (sharing, provider) = SharingSamples.sharing(transport)
        let calls = (0..<2).map { _ in Task { try await provider.request(account).mapString() } }
        await eventually { sharing.callerCount == 2 }
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        try await clock.advanceToNextSleeper()
        #expect(try await calls[1].value == "Ann")
        #expect(transport.sent.count == 1)
    }

    @Test("With the option on, equal POSTs share one exchange; with the option off, each GET has its own")
    func options() async throws {
        let transport = slow { $0.method == .post ? #"[{"name": "Ann"}]"# : #"{"name": "Bob"}"# }
        let (sharing, provider) = SharingSamples.sharing(transport)
        let calls = (0..<2).map { _ in Task { try await SharingSamples.options(provider).map(\.name) } }
        await eventually { sharing.callerCount == 2 }
        try await clock.waitForSleepers(3)
        clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.value == ["Ann", "Bob"]) }
        #expect(transport.sent.count { $0.method == .post } == 1)
        #expect(transport.sent.count { $0.method == .get } == 2)
    }

    // MARK: Compression

    private static let report = SharingSamples.Report(lines: (0..<2_000).map { "line \($0)" })

    /// Responds to a request with its own body in its own content coding.
    private let echo = ScriptedTransport(
        always: .answer { request, _ in
            var headers = HTTPFields()
            headers[.contentEncoding] = request.headers[.contentEncoding]
            return PipelineResponse(
                request: request,
                statusCode: 200,
                headers: headers,
                data: request.body.bytes ?? Data()
            )
        }
    )

    @Test("A request is sent compressed and asks for a compressed response, which is decoded")
    func gzip() async throws {
        #expect(try await SharingSamples.sent(Self.report, over: echo) == Self.report)
        let sent = try #require(echo.sent.first)
        #expect(sent.headers[.contentEncoding] == "gzip")
        #expect(sent.headers[.acceptEncoding]?.hasPrefix("gzip, deflate") == true)
        let byteCount = try #require(sent.body.byteCount)
        #expect(byteCount < (try JSONEncoder().encode(Self.report).count) / 2)
    }

    @Test("The standard stack sends bodies as they are, compressed if the call says so, and decodes responses")
    func standard() async throws {
        let gzip = Data(
            [
                0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00,
                0x86, 0xa6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
            ] as [UInt8]
        )
        for (compression, coding) in [(nil, nil), (.always, "gzip")] as [(GzipPlugin.RequestCompression?, String?)] {
            let transport = ScriptedTransport([.status(200, headers: [.contentEncoding: "gzip"], body: .bytes(gzip))])
            let provider = Provider<URLTarget>(transport: transport, plugins: [.standard])
            let body = RequestTask.requestJSONEncodable(Self.report)
            let target = URLTarget("https://api.example.com/reports", method: .post, task: body)
            let options = RequestOptions { $0.requestCompression = compression }
            #expect(try await provider.request(target, options: options).mapString() == "hello")
            #expect(transport.sent.map { $0.headers[.contentEncoding] } == [coding])
            #expect(provider.explain().findings.isEmpty)
        }
    }

    @Test("With the option, one request is compressed")
    func call() async throws {
        try await SharingSamples.compressed(Self.report, Provider(transport: echo, plugins: [GzipPlugin()]))
        #expect(echo.sent.map { $0.headers[.contentEncoding] } == ["gzip"])
    }

    @Test("A body that decodes to more than the limit fails; the default limits allow it")
    func limits() async throws {
        let numbers = Data((0..<200_000).map(String.init).joined(separator: ",").utf8)
        let target = URLTarget("https://api.example.com/reports", method: .post, task: .requestData(numbers))
        let coded = RequestOptions { $0.requestCompression = .always }
        let lenient = Provider<URLTarget>(transport: echo, plugins: [GzipPlugin()])
        #expect(try await lenient.request(target, options: coded).data == numbers)
        let strict = Provider<URLTarget>(transport: echo, plugins: [SharingSamples.limited()])
        let error = await pipelineError { _ = try await strict.request(target, options: coded) }
        #expect(error?.code == .limit(.decodedBytes))
    }
}
