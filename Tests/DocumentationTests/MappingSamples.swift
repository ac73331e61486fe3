import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Errors.
private enum MappingSamples {
    typealias Book = ReadmeProgram.Book

    // sample: validation
    enum Library: TargetType {
        case book(id: Int)
        case cover(id: Int)

        var baseURL: URL { Endpoint.url("https://library.example/v1") }
        var path: String {
            switch self {
            case .book(let id): "books/\(id)"
            case .cover(let id): "books/\(id)/cover"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var validationType: ValidationType {
            switch self {
            case .book: .successCodes
            case .cover: .customCodes([200, 404])
            }
        }
    }
    // end

    static func filters(_ response: PipelineResponse) throws {
        // sample: filters
        try response.filterSuccessfulStatusCodes()
        try response.filterSuccessfulStatusAndRedirectCodes()
        try response.filter(statusCode: 201)
        try response.filter(statusCodes: 200..<205)
        // end
    }

    static func mappings(_ response: PipelineResponse, _ decoder: JSONDecoder) throws -> [Any] {
        // sample: mappings
        let json = try response.mapJSON()
        let text = try response.mapString()
        let title = try response.mapString(atKeyPath: "data.books.0.title")
        let book = try response.map(Book.self, atKeyPath: "data.books.0", using: decoder)
        // end
        return [json, text, title, book]
    }

    static func calls(_ provider: Provider<Library>, _ decoder: JSONDecoder) async throws -> [Book] {
        // sample: calls
        let book = try await provider.request(.book(id: 3)).filter(statusCode: 200).map(Book.self)
        let same = try await provider.request(.book(id: 3), as: Book.self, decoder: decoder)
        // end
        return [book, same]
    }

    // sample: failure
    struct FormErrors: Decodable { let message: String, errors: [String: [String]] }

    static func fieldErrors(_ error: PipelineError) -> [String: [String]] {
        error.failure(as: FormErrors.self)?.errors ?? [:]
    }

    static let configuration = ProviderConfiguration(
        options: .init { $0.errorText = { $0.failure(as: FormErrors.self)?.message } }
    )
    // end

    // sample: problem
    struct OutOfCredit: Decodable { let balance: Double }

    static func borrow(_ provider: Provider<Library>) async throws -> String {
        do {
            return try await provider.request(.book(id: 3)).mapString()
        } catch let error as PipelineError where error.code == .unacceptableStatus {
            guard let problem = error.problemDetails else { throw error }
            guard problem.type == "https://library.example/probs/out-of-credit" else {
                return problem.title ?? "It did not work."
            }
            return error.failure(as: OutOfCredit.self).map { "You have \($0.balance) left." } ?? "It did not work."
        }
    }
    // end

    // sample: own errors
    static func titles(_ provider: Provider<Library>) async throws -> [String] {
        let response = try await provider.request(.book(id: 3))
        let titles = try response.map([String].self)
        guard !titles.isEmpty else {
            throw PipelineError(.emptyList, "the list of titles is empty", response: response)
        }
        return titles
    }
    // end

    static func shownTitles(_ provider: Provider<Library>) async throws -> String {
        do {
            return try await titles(provider).joined(separator: ", ")
        } catch let error as PipelineError {
            switch error.code {
            case .emptyList: return "There are no books."
            case .mapping: return "The library has changed its format."
            default: return error.localizedDescription
            }
        }
    }
}

// sample: own code
extension PipelineError.Code {
    static let emptyList = Self(rawValue: "library.emptyList")
}
// end

@Suite("The samples of the guide Errors", .watched)
struct MappingSamplesTests {
    private typealias Library = MappingSamples.Library

    private func provider(_ steps: [ScriptedTransport.Step]) -> Provider<Library> {
        Provider(transport: ScriptedTransport(steps))
    }

    @Test("Each target's validation decides which statuses are accepted")
    func validation() async throws {
        #expect(try await provider([.status(404)]).request(.cover(id: 3)).statusCode == 404)
        let error = await pipelineError { _ = try await provider([.status(404)]).request(.book(id: 3)) }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test("Filters and mappings behave as the guide describes")
    func mappings() throws {
        let body = #"{"data":{"books":[{"title":"Solaris","author":"Lem"}]}}"#
        try MappingSamples.filters(try makeResponse(201))
        let values = try MappingSamples.mappings(try makeResponse(200, body), JSONDecoder())
        #expect(values[1] as? String == body)
        #expect(values[2] as? String == "Solaris")
        #expect((values[3] as? MappingSamples.Book)?.author == "Lem")
    }

    @Test("A call's response is mapped, or the call returns the value directly")
    func calls() async throws {
        let step = ScriptedTransport.Step.status(200, body: #"{"title":"Solaris","author":"Lem"}"#)
        #expect(
            try await MappingSamples.calls(provider([step, step]), JSONDecoder()).map(\.title) == [
                "Solaris", "Solaris",
            ]
        )
    }

    @Test(
        "Custom errors are thrown and matched like any other",
        arguments: [
            (ScriptedTransport.Step.status(200, body: #"["Solaris","Eden"]"#), "Solaris, Eden"),
            (.status(200, body: "[]"), "There are no books."),
            (.status(200, body: "{}"), "The library has changed its format."),
            (.status(200, body: "<"), "The library has changed its format."),
            (.status(404), "This item does not exist. Check its name or address."),
            (.failure(.offline), "You're not connected to the internet. Check your connection and try again."),
        ] as [(ScriptedTransport.Step, String)]
    )
    func ownErrors(_ step: ScriptedTransport.Step, _ shown: String) async throws {
        #expect(try await MappingSamples.shownTitles(provider([step])) == shown)
    }

    @Test("The guide Errors shows the description of a call that failed three times")
    func description() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let provider = Provider<Library>(transport: transport, plugins: [RetryPlugin(backoff: .immediate)])
        let error = await pipelineError { _ = try await provider.request(.book(id: 3)) }
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/Errors.md")
        let blocks = Markdown(try String(contentsOf: page, encoding: .utf8)).blocks(in: "text")
        #expect(blocks == [error?.description])
    }

    @Test("A failed attempt of a POST is not retried, and the description has the reason")
    func refusal() async throws {
        let provider = Provider<URLTarget>(
            transport: ScriptedTransport([.failure(.connectionLost)]),
            plugins: [RetryPlugin()]
        )
        let target = URLTarget("https://library.example/v1/loans", method: .post)
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.description.hasSuffix("; not retried: methodNotIdempotent") == true)
    }

    @Test("The body of a rejected response is decoded, and a failure without a response has none")
    func failure() async throws {
        let body = #"{"message":"No card","errors":{"card":["is missing"]}}"#
        let steps: [ScriptedTransport.Step] = [.status(422, body: body), .failure(.offline)]
        let provider = Provider<MappingSamples.Library>(
            transport: ScriptedTransport(steps),
            configuration: MappingSamples.configuration
        )
        for (errors, text) in [(["card": ["is missing"]], "No card"), ([:], nil)] as [([String: [String]], String?)] {
            let error = try #require(await pipelineError { _ = try await provider.request(.book(id: 3)) })
            #expect(MappingSamples.fieldErrors(error) == errors)
            #expect(error.customText == text)
        }
    }

    @Test(
        "A problem is identified by its type",
        arguments: [
            (#"{"type":"https://library.example/probs/out-of-credit","balance":1.5}"#, "You have 1.5 left."),
            (#"{"title":"Closed"}"#, "Closed"), ("{}", "It did not work."),
        ]
    )
    func problem(_ body: String, _ shown: String) async throws {
        let step = ScriptedTransport.Step.status(403, headers: [.contentType: "application/problem+json"], body: body)
        #expect(try await MappingSamples.borrow(provider([step])) == shown)
    }
}
