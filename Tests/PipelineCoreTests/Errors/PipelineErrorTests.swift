import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("PipelineError", .watched)
struct PipelineErrorTests {
    /// Every text that describes an error.
    static func texts(of error: PipelineError) -> [String] {
        var dumped = ""
        dump(error, to: &dumped)
        let any: any Error = error
        return [
            error.description, error.localizedDescription, any.localizedDescription, "\(error)", "\(any)",
            String(reflecting: error), String(describing: any), error.errorDescription ?? "", dumped,
            "\(any as NSError)", (any as NSError).localizedDescription, "\((any as NSError).userInfo)",
            "\(Result<Int, PipelineError>.failure(error))", "\([error])", "\(Optional(error) as Any)",
        ]
    }

    static func secretRequest() throws -> PipelineRequest {
        var request = try PipelineRequest(
            .post,
            url: "https://example.com/path?token=CANARY-query",
            headers: [.authorization: "Bearer CANARY-header", .cookie: "CANARY-cookie"],
            body: .bytes(Data("CANARY-body".utf8))
        )
        let name = try #require(HTTPField.Name("X-Key"))
        try request.setHeader("CANARY-field", for: name, isSecret: true)
        return request
    }

    static func underlyingErrors() throws -> [any Error] {
        let url = try #require(URL(string: "https://example.com/?CANARY-url"))
        let key = try #require(Issue.key)
        let context = DecodingError.Context(codingPath: [key], debugDescription: "CANARY-debug")
        return [
            URLError(
                .timedOut,
                userInfo: [NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: "CANARY"]
            ),
            NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: "CANARY-text"]),
            DecodingError.dataCorrupted(context), DecodingError.typeMismatch(Int.self, context),
            EncodingError.invalidValue("CANARY-value", .init(codingPath: [], debugDescription: "CANARY")),
            Told(secret: "CANARY-own"),
        ]
    }

    enum Issue: CodingKey {
        case title
        static let key = Issue(stringValue: "title")
    }

    struct Told: LocalizedError, CustomStringConvertible {
        let secret: String
        var description: String { secret }
        var errorDescription: String? { secret }
        var failureReason: String? { secret }
    }

    @Test("No text of an error shows a query, a header value, a body or the text of an underlying error")
    func noSecrets() throws {
        for underlying in try Self.underlyingErrors() {
            let response = PipelineResponse(
                request: try Self.secretRequest(),
                statusCode: 401,
                headers: [.setCookie: "CANARY-response"],
                data: Data("CANARY-answer".utf8)
            )
            let error = PipelineError(.transport, "it broke", response: response, underlyingError: underlying)
            for text in Self.texts(of: error) {
                #expect(!text.contains("CANARY"), "\(type(of: underlying))")
            }
            #expect(error.description.hasPrefix("transport: it broke"))
            for part in ["401", "POST", "example.com/path", "\(type(of: underlying))"] {
                #expect(error.description.contains(part))
            }
        }
    }

    @Test("An error from a transport, a plugin or a body reaches the caller without its secrets")
    func noSecretsThroughCalls() async throws {
        struct Throwing: Stage.Intercept {
            let error: any Error
            func intercept(
                _: PipelineRequest,
                context: PipelineContext,
                next: Stage.Next
            ) async throws -> PipelineResponse {
                throw error
            }
        }
        let target = try SampleTarget("https://example.com/?CANARY") {
            $0.headers = ["Authorization": "CANARY"]
            $0.method = .post
            $0.task = .requestData(Data("CANARY".utf8))
        }
        for underlying in try Self.underlyingErrors() {
            let broken = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: underlying) }
            let providers = [
                Provider<SampleTarget>(
                    transport: ScriptedTransport([.answer { _, _ in throw underlying }, .status(200)])
                ),
                Provider<SampleTarget>(
                    transport: ScriptedTransport([.status(200, body: .stream(broken)), .status(200)])
                ),
                Provider<SampleTarget>(transport: ScriptedTransport([]), plugins: [Throwing(error: underlying)]),
            ]
            for (index, provider) in providers.enumerated() {
                let thrown = await #expect(throws: PipelineError.self) { try await provider.request(target) }
                let error = try #require(thrown)
                #expect(error.code == (index == 2 ? .plugin : .transport))
                #expect(error.plugin == (index == 2 ? "Throwing" : nil))
                #expect(error.stage == (index == 2 ? .intercept : nil))
                #expect(error.request?.host == "example.com")
                #expect(error.underlyingError != nil)
                for text in Self.texts(of: error) { #expect(!text.contains("CANARY")) }
                guard index < 2 else { continue }
                #expect(error.exchanges.map(\.failure) == [.transport])
                let next = try await provider.request(target)
                #expect(next.statusCode == 200)
            }
        }
    }

    @Test("M145 M146 An error carries the response, its request, its exchanges and the cause")
    func contents() throws {
        let response = PipelineResponse(request: try Self.secretRequest(), statusCode: 500, data: Data("x".utf8))
        let error = PipelineError(.unacceptableStatus, "no", response: response, underlyingError: URLError(.badURL))
        #expect(error.response?.statusCode == 500)
        #expect(error.request?.method == .post)
        #expect((error.underlyingError as? URLError)?.code == .badURL)
        #expect(error.exchanges.isEmpty)
        #expect(error.plugin == nil)
        let bare = PipelineError(.encoding, "no")
        #expect(bare.response == nil)
        #expect(bare.request == nil)
        #expect(bare.description == "encoding: no")
    }

    @Test("Changing a copy of an error leaves the original unchanged")
    func copies() {
        let error = PipelineError(.encoding, "one")
        var copy = error
        copy.reason = "two"
        copy.code = .timeout(.total)
        copy.underlyingError = URLError(.badURL)
        #expect(error.reason == "one")
        #expect(error.code == .encoding)
        #expect(error.underlyingError == nil)
    }

    @Test("M147 M148 The localized description is a sentence for people, also through NSError")
    func localized() {
        let error = PipelineError(.timeout(.idle), "nothing came")
        #expect(error.description == "timeout.idle: nothing came")
        #expect(error.localizedDescription == "The server took too long to respond. Try again later.")
        #expect((error as any Error as NSError).localizedDescription == error.localizedDescription)
    }
}
