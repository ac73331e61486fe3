import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider: decoding", .tags(.concurrent), .watched)
struct ProviderDecodingTests {
    struct User: Decodable, Sendable, Equatable {
        var name: String?
        var born: Date?
    }

    struct UserAPI: DecodableTargetType {
        typealias ResultType = User
        var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
        var path: String { "user" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    typealias Outcome = Result<User, PipelineError>

    /// A call that decodes its response; all of them must behave the same.
    enum Way: CaseIterable {
        case typed, named, anyTyped, anyNamed
    }

    /// The arguments of a call, besides the target.
    struct Ask {
        var keyPath: String?
        var failsOnEmptyData = true
        var options = RequestOptions()
    }

    let decoder: JSONDecoder

    init() {
        decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
    }

    func ask(_ way: Way, _ transport: ScriptedTransport, _ ask: Ask = Ask(), seen: Journal = Journal()) async -> Outcome
    {
        let watch = PluginStack.willSend { _, context in seen.add(context.options[SampleOption.self]) }
        let (one, any) = (
            Provider<UserAPI>(transport: transport, plugins: [watch]),
            Provider<MultiTarget>(transport: transport, plugins: [watch])
        )
        let (target, keyPath, fails) = (UserAPI(), ask.keyPath, ask.failsOnEmptyData)
        do {
            switch way {
            case .typed:
                return .success(
                    try await one.request(
                        target,
                        as: User.self,
                        atKeyPath: keyPath,
                        decoder: decoder,
                        failsOnEmptyData: fails,
                        options: ask.options
                    )
                )
            case .named:
                return .success(
                    try await one.requestDecoded(
                        target,
                        atKeyPath: keyPath,
                        decoder: decoder,
                        failsOnEmptyData: fails,
                        options: ask.options
                    )
                )
            case .anyTyped:
                return .success(
                    try await any.request(
                        target,
                        as: User.self,
                        atKeyPath: keyPath,
                        decoder: decoder,
                        failsOnEmptyData: fails,
                        options: ask.options
                    )
                )
            case .anyNamed:
                return .success(
                    try await any.requestDecoded(
                        target,
                        atKeyPath: keyPath,
                        decoder: decoder,
                        failsOnEmptyData: fails,
                        options: ask.options
                    )
                )
            }
        } catch {
            return .failure(error as? PipelineError ?? PipelineError(.cancelled, "by the caller"))
        }
    }

    @Test(
        "Every decoding call uses the given decoder, for the whole body or the value at a key path",
        arguments: Way.allCases
    )
    func decodes(_ way: Way) async throws {
        let user = User(name: "Ann", born: Date(timeIntervalSince1970: 1.5))
        let whole = ScriptedTransport([.status(200, body: #"{"name":"Ann","born":1.5}"#)])
        #expect(try await ask(way, whole).get() == user)
        let nested = ScriptedTransport([.status(200, body: #"{"data":{"users":[{"name":"Ann","born":1.5}]}}"#)])
        #expect(try await ask(way, nested, Ask(keyPath: "data.users.0")).get() == user)
    }

    @Test(
        "Every decoding call rejects an empty body, or decodes an empty value on request",
        arguments: Way.allCases
    )
    func emptyBody(_ way: Way) async throws {
        let transport = ScriptedTransport(always: .status(204))
        #expect(try await ask(way, transport, Ask(failsOnEmptyData: false)).get() == User())
        guard case .failure(let error) = await ask(way, transport) else {
            Issue.record("an empty body decoded")
            return
        }
        #expect(error.code == .mapping(.object))
        #expect(error.response?.statusCode == 204)
    }

    @Test("Every decoding call reports which mapping failed and keeps the response", arguments: Way.allCases)
    func failures(_ way: Way) async {
        let rows: [(String, String?, PipelineError.Code)] = [
            ("<html>", nil, .mapping(.object)), (#"{"name":1}"#, nil, .mapping(.object)),
            ("<html>", "data", .mapping(.json)), ("{}", "data", .mapping(.keyPath)),
        ]
        for (body, keyPath, code) in rows {
            let transport = ScriptedTransport([.status(200, body: body)])
            guard case .failure(let error) = await ask(way, transport, Ask(keyPath: keyPath)) else {
                Issue.record("\(body) decoded")
                continue
            }
            #expect(error.code == code)
            #expect(error.response?.data == Data(body.utf8))
        }
        let failed = await ask(way, ScriptedTransport([.failure(.offline)]))
        #expect(throws: PipelineError.self) { try failed.get() }
        if case .failure(let error) = failed { #expect(error.code == .offline) }
    }

    @Test("Every decoding call passes its options on", arguments: Way.allCases)
    func options(_ way: Way) async {
        let seen = Journal()
        let options = RequestOptions { $0[SampleOption.self] = "call" }
        _ = await ask(way, ScriptedTransport(always: .status(200, body: "{}")), Ask(options: options), seen: seen)
        #expect(seen.entries == ["call"])
    }
}
