import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Hint about a missing keyDecodingStrategy", .watched)
struct ForgottenKeyStrategyTests {
    struct Author: Decodable { let fullName: String }
    struct Book: Decodable {
        let createdAt: String?
        let authors: [Author]
    }
    struct Named: Decodable { let imageURL: String }
    struct Keyed: Decodable {
        enum CodingKeys: String, CodingKey { case name = "full_name" }
        let name: String
    }

    private static let hint = ": set the decoder's keyDecodingStrategy to .convertFromSnakeCase"

    private static func reason<Value: Decodable>(
        _ body: String,
        as type: Value.Type,
        at keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws -> String? {
        let response = try makeResponse(200, body)
        let error = #expect(throws: PipelineError.self) {
            _ = try response.map(type, atKeyPath: keyPath, using: decoder)
        }
        return error?.reason
    }

    @Test("A text of more than 1 MiB is not read again for the hint")
    func longText() throws {
        let body = #"{"full_name":"\#(String(repeating: "a", count: 1 << 20))"}"#
        let reason = try Self.reason(body, as: Author.self)
        #expect(reason == #"the body does not decode to Author: no member "fullName""#)
    }

    @Test("If a missing key exists in snake case, the error suggests the strategy and shows no value")
    func top() throws {
        #expect(
            try Self.reason(#"{"full_name":"CANARY"}"#, as: Author.self)
                == #"the body does not decode to Author: no member "fullName"; the JSON has "full_name""# + Self.hint
        )
    }

    @Test("The error's key path leads to the object with the snake-case key")
    func nested() throws {
        let body = #"{"created_at":"1","authors":[{"fullName":"a"},{"full_name":"CANARY"}]}"#
        let expected =
            #"the body does not decode to Book: no member "fullName" at "authors.1"; the JSON has "full_name""#
            + Self.hint
        #expect(try Self.reason(body, as: Book.self) == expected)
        #expect(try Self.reason(#"{"data":{"books":[\#(body)]}}"#, as: Book.self, at: "data.books.0") == expected)
        let dictionary = try Self.reason(#"{"CANARY":{"full_name":"CANARY"}}"#, as: [String: Author].self)
        #expect(dictionary?.hasSuffix(#"no member "fullName" at "*"; the JSON has "full_name""# + Self.hint) == true)
    }

    @Test(
        "There is no hint if the strategy would not help",
        arguments: [
            "{}", #"{"fullname":"x"}"#, #"{"full-name":"x"}"#, #"{"_full_name":"x"}"#, #"{"a":{"full_name":"x"}}"#,
        ]
    )
    func otherKeys(_ body: String) throws {
        #expect(try Self.reason(body, as: Author.self) == #"the body does not decode to Author: no member "fullName""#)
    }

    @Test("There is no hint if the strategy would yield another name, or for a snake-case coding key")
    func otherNames() throws {
        #expect(try Self.reason(#"{"image_url":"x"}"#, as: Named.self)?.contains("keyDecodingStrategy") == false)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(
            try Self.reason(#"{"full_name":"x"}"#, as: Keyed.self, using: decoder)?.contains("keyDecodingStrategy")
                == false
        )
    }

    @Test("A line of a stream also gets the hint")
    func stream() async throws {
        let provider = Provider<SampleTarget>(
            transport: ScriptedTransport([.status(200, body: #"{"full_name":"CANARY"}"# + "\n")])
        )
        let error = await pipelineError {
            for try await _ in try await provider.stream(SampleTarget()).jsonLines(as: Author.self) {}
        }
        #expect(error?.reason.contains(Self.hint) == true)
        #expect(error?.reason.contains("CANARY") == false)
    }
}
