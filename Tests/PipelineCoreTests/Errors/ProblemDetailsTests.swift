import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Problem details (RFC 9457)", .watched)
struct ProblemDetailsTests {
    struct OutOfCredit: Decodable, Sendable, Equatable {
        let balance: Double
        let accounts: [String]
    }

    static let credit = #"""
        {"type": "https://example.com/probs/out-of-credit", "title": "You do not have enough credit.", "status": 403,
         "detail": "Your current balance is 30, but that costs 50.", "instance": "/account/12345/msgs/abc",
         "balance": 30, "accounts": ["/account/12345", "/account/67890"]}
        """#

    func problem(_ body: String, contentType: String? = "application/problem+json") throws -> ProblemDetails? {
        try makeResponse(403, body, contentType: contentType).problemDetails
    }

    @Test("All five members are read")
    func members() throws {
        #expect(
            try problem(Self.credit)
                == ProblemDetails(
                    type: "https://example.com/probs/out-of-credit",
                    title: "You do not have enough credit.",
                    status: 403,
                    detail: "Your current balance is 30, but that costs 50.",
                    instance: "/account/12345/msgs/abc"
                )
        )
    }

    @Test("§3.1.1 A missing type is about:blank")
    func missing() throws {
        let problem = try #require(try problem("{}"))
        #expect(problem == ProblemDetails())
        #expect(problem.type == "about:blank")
        #expect(problem.title == nil)
        #expect(problem.status == nil)
        #expect(problem.detail == nil)
        #expect(problem.instance == nil)
    }

    static let wrongValues = ["1", "true", "null", "[]", "{}", "[\"x\"]", "1.5", "1e400"]

    @Test("§3.1 A member with a value of the wrong type is ignored, and the others are kept", arguments: wrongValues)
    func wrongTypes(_ value: String) throws {
        let names = ["type", "title", "detail", "instance", "status"]
        for name in names {
            let others = names.filter { $0 != name }.map { $0 == "status" ? #""status":404"# : #""\#($0)":"x""# }
            let found = try problem("{\"\(name)\":\(value),\(others.joined(separator: ","))}")
            let expected = ProblemDetails(
                type: name == "type" ? "about:blank" : "x",
                title: name == "title" ? nil : "x",
                status: name == "status" ? nil : 404,
                detail: name == "detail" ? nil : "x",
                instance: name == "instance" ? nil : "x"
            )
            #expect(found == expected, "\(name)")
        }
    }

    @Test(
        "A status that is not a whole number of three digits is ignored",
        arguments: [
            ("100", 100), ("999", 999), ("99", nil), ("1000", nil), ("-404", nil), ("404.5", nil), (#""404""#, nil),
        ]
            as [(String, Int?)]
    )
    func status(_ text: String, _ status: Int?) throws {
        #expect(try problem(#"{"status":\#(text)}"#)?.status == status)
    }

    @Test(
        "Only the media type identifies a problem, whatever its case and parameters",
        arguments: [
            ("application/problem+json", true), ("application/problem+json; charset=utf-8", true),
            ("Application/Problem+JSON", true), ("application/json", false), ("application/problem+xml", false),
            ("application/problem", false), ("application/vnd.api+json", false),
            ("text/plain; x=application/problem+json", false), ("", false),
            (nil, false),
        ] as [(String?, Bool)]
    )
    func mediaType(_ contentType: String?, _ isProblem: Bool) throws {
        #expect(try (problem(Self.credit, contentType: contentType) != nil) == isProblem)
    }

    static let hostile = [
        "", " ", "null", "[]", "1", "\"x\"", "{", "{\"type\":", "<html>", "{\"a\":\u{1}}",
        String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 100_000),
        "{\"title\":" + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + "}",
    ]

    @Test("A body that is not a JSON object has no problem details", arguments: 0..<hostile.count)
    func hostileBodies(_ row: Int) throws {
        #expect(try problem(Self.hostile[row]) == nil)
        let response = try makeResponse(400, Self.hostile[row], contentType: "application/problem+json")
        let error = PipelineError(.unacceptableStatus, "", response: response)
        #expect(error.failure(as: OutOfCredit.self) == nil)
        #expect(error.code == .unacceptableStatus)
    }

    @Test("Bytes that are not text have no problem details, and random bytes do not crash")
    func randomBytes() throws {
        var random = PipelineRandom.seeded(9457)
        var response = try makeResponse(400, "", contentType: "application/problem+json")
        for _ in 0..<500 {
            var bytes = Array(Self.credit.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            response.body = .bytes(Data(bytes))
            _ = response.problemDetails
        }
        #expect(try problem(#"{"type":"\ud800","title":"t"}"#)?.title == "t")
        response.body = .bytes(Data([0xff, 0xfe, 0x80]))
        #expect(response.problemDetails == nil)
    }

    @Test("A body that is larger than 1 MiB or not in memory is not parsed")
    func large() throws {
        let most = 1 << 20
        let frame = #"{"title":""}"#.utf8.count
        let fitting = try problem(#"{"title":"\#(String(repeating: "x", count: most - frame))"}"#)
        #expect(fitting?.title?.count == most - frame)
        #expect(try problem(#"{"title":"\#(String(repeating: "x", count: most - frame + 1))"}"#) == nil)
        var response = try makeResponse(400, "", contentType: "application/problem+json")
        response.body = .absent
        #expect(response.problemDetails == nil)
    }

    @Test(
        "The body of an error decodes to the type of the API, whatever its media type",
        arguments: ["application/problem+json", "application/json", "text/plain", nil]
    )
    func failureBody(contentType: String?) throws {
        let response = try makeResponse(403, Self.credit, contentType: contentType)
        let expected = OutOfCredit(balance: 30, accounts: ["/account/12345", "/account/67890"])
        let error = PipelineError(.unacceptableStatus, "", response: response)
        #expect(error.failure(as: OutOfCredit.self) == expected)
    }

    @Test("The body of an error is decoded with the given decoder, else with the coders of the provider")
    func decoder() throws {
        struct Limit: Decodable {
            let retryAt: Date
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        let response = try makeResponse(429, #"{"retry_at": 1.5}"#, contentType: "application/problem+json")
        let error = PipelineError(.unacceptableStatus, "", response: response)
        #expect(error.failure(as: Limit.self, using: decoder)?.retryAt == Date(timeIntervalSince1970: 1.5))
        #expect(error.failure(as: Limit.self) == nil)
    }

    @Test("The text for people may come from the body of the error, for all calls of a provider")
    func text() async throws {
        struct Form: Decodable {
            let errorMessage: String
        }
        let coders = ProviderConfiguration.Coders(configureJSONDecoder: {
            $0.keyDecodingStrategy = .convertFromSnakeCase
        })
        let provider = Provider<SampleTarget>(
            transport: ScriptedTransport([
                .status(422, body: #"{"error_message": "The name is taken."}"#), .status(500, body: "<html>"),
            ]),
            configuration: .init(
                coders: coders,
                options: .init { $0.errorText = { $0.failure(as: Form.self)?.errorMessage } }
            )
        )
        var error = await pipelineError { try await provider.send(SampleTarget { $0.validationType = .automatic }) }
        #expect(error?.localizedDescription == "The name is taken.")
        error = await pipelineError { try await provider.send(SampleTarget { $0.validationType = .automatic }) }
        #expect(error?.customText == nil)
        #expect(error?.statusCode == 500)
    }

    @Test("An error without a response has no problem details")
    func noResponse() {
        let error = PipelineError(.offline, "by script")
        #expect(error.problemDetails == nil)
        #expect(error.failure(as: OutOfCredit.self) == nil)
    }

    @Test("A failed validation has the problem details but does not describe them", arguments: [true, false])
    func failedValidation(_ isStreaming: Bool) async throws {
        let transport = ScriptedTransport([
            .status(403, headers: [.contentType: "application/problem+json"], body: Self.credit)
        ])
        let provider = Provider<SampleTarget>(transport: transport)
        let target = try SampleTarget { $0.validationType = .successCodes }
        let error = await pipelineError {
            if isStreaming { _ = try await provider.stream(target) } else { _ = try await provider.request(target) }
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.problemDetails?.title == "You do not have enough credit.")
        #expect(error?.failure(as: OutOfCredit.self)?.balance == 30)
        let problem = "; problem https://example.com/probs/out-of-credit, status 403"
        #expect(error.map { $0.debugDescription == $0.description + problem } == true)
        let description = "\(error.map(String.init(describing:)) ?? "")"
        for word in ["credit", "balance", "12345", "30"] { #expect(!description.contains(word)) }
    }

    @Test("A response with an accepted status has problem details too")
    func acceptedStatus() async throws {
        let transport = ScriptedTransport([
            .status(403, headers: [.contentType: "application/problem+json"], body: Self.credit)
        ])
        let response = try await Provider<SampleTarget>(transport: transport).request(SampleTarget())
        #expect(response.problemDetails?.status == 403)
    }

    @Test("The description shows status and type, without user name, query values and texts for people")
    func description() {
        let problem = ProblemDetails(
            type: "https://CANARY@example.com/probs/credit?key=CANARY#CANARY",
            title: "CANARY",
            status: 403,
            detail: "CANARY",
            instance: "/CANARY"
        )
        var dumped = ""
        dump(problem, to: &dumped)
        for text in ["\(problem)", String(reflecting: problem), dumped] {
            #expect(text.contains("example.com/probs/credit"))
            #expect(text.contains("403"))
            #expect(!text.contains("CANARY"))
        }
        #expect("\(ProblemDetails())" == "about:blank")
        #expect("\(ProblemDetails(type: "/a\u{1b}b"))" == #"/a\u{1b}b"#)
    }

    @Test("Problem details survive encoding and decoding")
    func encoding() throws {
        for problem in [
            ProblemDetails(), ProblemDetails(type: "/x", title: "t", status: 404, detail: "d", instance: "i"),
        ] {
            let data = try JSONEncoder().encode(problem)
            #expect(try JSONDecoder().decode(ProblemDetails.self, from: data) == problem)
        }
    }
}

/// The `PipelineError` that the closure throws, or `nil`.
private func pipelineErrorOf(_ work: () throws -> Void) -> PipelineError? {
    do { try work() } catch { return error as? PipelineError }
    return nil
}
