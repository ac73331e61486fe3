import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestTask, JSON", .watched)
struct JSONContentTests {
    @Test("M15 A value is encoded as JSON with sorted keys at every level")
    func jsonEncodable() throws {
        let request = try RequestTaskTests.request(.requestJSONEncodable(RequestTaskTests.Order()))
        let json = #"{"amount":1,"lines":{"v":4,"w":3,"x":2,"y":1},"zone":"b\/c"}"#
        #expect(request.body.bytes.map { String(decoding: $0, as: UTF8.self) } == json)
        #expect(request.headers[.contentType] == "application/json")
    }

    @Test("M15 A target's own Content-Type is kept, whatever the case of its name")
    func jsonContentType() throws {
        let request = try RequestTaskTests.request(
            .requestJSONEncodable(RequestTaskTests.Order()),
            ["content-TYPE": "application/vnd.api+json"]
        )
        #expect(request.headers[values: .contentType] == ["application/vnd.api+json"])
    }

    @Test("An array, a string, a number, a boolean or nil may be the top-level value")
    func jsonRoots() throws {
        let roots: [(any Encodable & Sendable, String)] = [
            ([1, 2], "[1,2]"), ("a", #""a""#), (1, "1"), (true, "true"), (Int?.none, "null"),
        ]
        for (value, json) in roots {
            let body = try RequestTaskTests.request(.requestJSONEncodable(value)).body.bytes
            #expect(body.map { String(decoding: $0, as: UTF8.self) } == json)
        }
    }

    struct Refusing: Encodable, Sendable {
        struct Reason: Error { let secret = "CANARY" }
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    @Test("M17 A value that cannot be encoded fails with a typed error that has its path, not the value")
    func jsonFailure() async throws {
        struct Price: Encodable, Sendable {
            var amounts = ["net": Double.infinity]
        }
        let error = #expect(throws: PipelineError.self) { try RequestTaskTests.request(.requestJSONEncodable(Price())) }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("\"amounts.net\"") == true)
        #expect(error?.underlyingError is EncodingError)

        let refused = #expect(throws: PipelineError.self) {
            try RequestTaskTests.request(.requestJSONEncodable(Refusing()))
        }
        #expect(refused?.code == .encoding)
        #expect(refused?.reason.contains("Refusing") == true)
        #expect(refused?.underlyingError is Refusing.Reason)
        #expect(refused?.description.contains("CANARY") == false)
    }
}
