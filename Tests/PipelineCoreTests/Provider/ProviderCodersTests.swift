import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider: coders", .watched)
struct ProviderCodersTests {
    private struct Repo: Codable, Equatable, Sendable {
        var starCount: Int
        var madeAt: Date?
    }

    private struct Plain: DecodableTargetType {
        typealias ResultType = Repo
        var baseURL: URL { Endpoint.url("https://api.example.com") }
        let path = "repo"
        let method = HTTPRequest.Method.get
        let task = RequestTask.requestPlain
    }

    /// A target with a decoder of its own.
    private struct Own: DecodableTargetType {
        typealias ResultType = Repo
        var baseURL: URL { Endpoint.url("https://api.example.com") }
        let path = "repo"
        let method = HTTPRequest.Method.get
        let task = RequestTask.requestPlain

        func makeResult(
            from response: PipelineResponse,
            atKeyPath keyPath: String?,
            using decoder: JSONDecoder?,
            failsOnEmptyData: Bool
        ) throws -> Repo {
            try response.map(Repo.self, atKeyPath: keyPath, using: decoder ?? Self.decoder(prefix: "own"))
        }

        static func decoder(prefix: String) -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .custom { path in Key(prefix: prefix, path.last?.stringValue ?? "") }
            return decoder
        }
    }

    /// A key without the prefix that identifies the decoder.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(prefix: String, _ text: String) {
            stringValue = text.hasPrefix(prefix + ".") ? String(text.dropFirst(prefix.count + 1)) : "other"
        }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let coders = ProviderConfiguration.Coders(
        configureJSONDecoder: { $0.keyDecodingStrategy = .convertFromSnakeCase },
        configureJSONEncoder: { $0.keyEncodingStrategy = .convertToSnakeCase }
    )
    private let body = #"{"star_count": 3, "made_at": "1970-01-01T00:00:07Z"}"#
    private let repo = Repo(starCount: 3, madeAt: Date(timeIntervalSince1970: 7))

    @Test("The provider's coders decode responses, whichever call is used")
    func decoding() async throws {
        let transport = ScriptedTransport(always: .status(200, body: body))
        let provider = Provider<Plain>(transport: transport, configuration: .init(coders: coders))
        #expect(try await provider.request(Plain(), as: Repo.self) == repo)
        #expect(try await provider.requestDecoded(Plain()) == repo)
        #expect(try await provider.request(Plain()).map(Repo.self) == repo)
        for try await value in try await provider.stream(Plain()).jsonLines(as: Repo.self) { #expect(value == repo) }
        for try await page in provider.pages(Plain(), of: Repo.self) { #expect(page == repo) }

        let any = Provider<MultiTarget>(transport: transport, configuration: .init(coders: coders))
        #expect(try await any.request(Plain(), as: Repo.self) == repo)
        #expect(try await any.requestDecoded(Plain()) == repo)
    }

    @Test("The provider's coders decode the response of an error")
    func decodingError() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(409, body: body)),
            configuration: .init(coders: coders)
        )
        let target = TestTarget(validationType: .successCodes)
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(try error?.response?.map(Repo.self) == repo)
    }

    @Test("The call's decoder takes precedence over the target's, and the target's over the provider's")
    func precedence() async throws {
        let body = #"{"star_count": 1, "own.starCount": 2, "call.starCount": 3}"#
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .status(200, body: body)),
            configuration: .init(coders: coders)
        )
        let decoder = Own.decoder(prefix: "call")
        #expect(try await provider.requestDecoded(Plain()).starCount == 1)
        #expect(try await provider.requestDecoded(Own()).starCount == 2)
        #expect(try await provider.requestDecoded(Own(), decoder: decoder).starCount == 3)
        #expect(try await provider.request(Plain(), as: Repo.self, decoder: decoder).starCount == 3)
    }

    @Test("The provider's coders encode values that have no encoder of their own")
    func encoding() async throws {
        let transport = ScriptedTransport(always: .status(200))
        var coders = coders
        coders.form.boolEncoding = .literal
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(coders: coders))
        func send(_ task: RequestTask, _ method: HTTPRequest.Method = .post) async throws -> PipelineRequest {
            _ = try await provider.request(TestTarget(method: method, task: task))
            return try #require(transport.sent.last)
        }
        let json = try await send(.requestJSONEncodable(repo))
        #expect(json.body.bytes == Data(#"{"made_at":"1970-01-01T00:00:07Z","star_count":3}"#.utf8))
        let custom = try await send(.requestCustomJSONEncodable(Repo(starCount: 3), encoder: JSONEncoder()))
        #expect(custom.body.bytes == Data(#"{"starCount":3}"#.utf8))
        #expect(try await send(.requestQuery(["ok": true]), .get).query == "ok=true")
    }

    @Test("Without coders, JSON is decoded without key conversion")
    func none() async throws {
        let provider = Provider<Plain>(transport: ScriptedTransport(always: .status(200, body: #"{"starCount": 3}"#)))
        #expect(try await provider.requestDecoded(Plain()) == Repo(starCount: 3))
    }

    // MARK: Defaults

    private struct Event: Codable, Equatable {
        var at: Date
    }

    private static let event = Event(at: Date(timeIntervalSince1970: 1_000_000_000))

    @Test(
        "Without coders, dates are ISO 8601 in both directions, with or without a fraction",
        arguments: ["2001-09-09T01:46:40Z", "2001-09-09T01:46:40.000Z", "2001-09-09T03:46:40+02:00"]
    )
    func isoDates(text: String) async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"at":"\#(text)"}"#))
        let client = Provider<URLTarget>(transport: transport)
        #expect(try await client.send(Self.event, to: "https://a.test", as: Event.self) == Self.event)
        #expect(transport.sent[0].body.bytes == Data(#"{"at":"2001-09-09T01:46:40Z"}"#.utf8))
    }

    @Test("Fractions of a second are written by an option")
    func milliseconds() async throws {
        var coders = ProviderConfiguration.Coders()
        coders.dateEncodingStrategy = .iso8601Milliseconds
        let transport = ScriptedTransport(always: .status(200))
        let client = Provider<URLTarget>(transport: transport, configuration: .init(coders: coders))
        try await client.send(Event(at: Self.event.at.addingTimeInterval(0.25)), to: "https://a.test")
        #expect(transport.sent[0].body.bytes == Data(#"{"at":"2001-09-09T01:46:40.250Z"}"#.utf8))
    }

    @Test("A coder that is passed keeps its own dates")
    func ownCoder() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"at":21692800}"#))
        let client = Provider<URLTarget>(transport: transport)
        let task = RequestTask.requestCustomJSONEncodable(Self.event, encoder: JSONEncoder())
        let target = URLTarget("https://a.test", method: .post, task: task)
        #expect(try await client.request(target, as: Event.self, decoder: JSONDecoder()) == Self.event)
        #expect(transport.sent[0].body.bytes == Data(#"{"at":21692800}"#.utf8))
    }

    @Test(
        "A date in another form fails with an error that names the place and the setting, not the value",
        arguments: ["1000000000", "\"9 September 2001\"", "\"2001-09-09\"", "true"]
    )
    func otherDates(json: String) async {
        let transport = ScriptedTransport(always: .status(200, body: #"{"at":\#(json)}"#))
        let client = Provider<URLTarget>(transport: transport)
        let error = await pipelineError { _ = try await client.get("https://a.test", as: Event.self) }
        #expect(error?.code == .mapping(.object))
        #expect(error?.reason.contains("expected a date in ISO 8601 at") == true)
        #expect(error?.reason.contains("dateDecodingStrategy") == true)
        #expect(error?.reason.contains("2001-") == false)
    }
}
