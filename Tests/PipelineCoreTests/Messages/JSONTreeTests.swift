import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PipelineResponse: key paths", .watched)
struct JSONTreeTests {
    @Test("A key path uses the member names of the JSON, whatever the decoder's key strategy")
    func snakeCase() throws {
        struct Person: Decodable, Equatable {
            let firstName: String
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        let response = try makeResponse(200, #"{"the_data":{"the_person":{"first_name":"Ann"},"born_at":1.5}}"#)
        #expect(
            try response.map(Person.self, atKeyPath: "the_data.the_person", using: decoder) == Person(firstName: "Ann")
        )
        #expect(
            try response.map(Date.self, atKeyPath: "the_data.born_at", using: decoder)
                == Date(timeIntervalSince1970: 1.5)
        )
        #expect(
            PipelineResponseMappingTests.code {
                _ = try response.map(Person.self, atKeyPath: "theData", using: decoder)
            } == .mapping(.keyPath)
        )
    }

    @Test("Numbers at a key path keep all their digits")
    func exactNumbers() throws {
        let response = try makeResponse(
            200,
            #"{"u":18446744073709551615,"i":-9223372036854775808,"d":0.30000000000000004,"l":12345678901234567890.123456789,"h":1e300,"t":5e-324}"#
        )
        #expect(try response.map(UInt64.self, atKeyPath: "u") == .max)
        #expect(try response.map(Int64.self, atKeyPath: "i") == .min)
        #expect(try response.map(Double.self, atKeyPath: "d") == 0.30000000000000004)
        #expect(try response.map(Decimal.self, atKeyPath: "l") == Decimal(string: "12345678901234567890.123456789"))
        #expect(try response.map(Double.self, atKeyPath: "h") == 1e300)
        #expect(try response.map(Double.self, atKeyPath: "t") == .leastNonzeroMagnitude)
    }

    @Test("A key path into JSON nested deeper than 64 levels fails")
    func deepKeyPath() throws {
        let request = try PipelineRequest(url: "https://example.com")
        for (depth, isFound) in [(60, true), (70, false), (500, false)] {
            let json =
                #"{"a": 1, "b": "# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
            let response = PipelineResponse(request: request, statusCode: 200, data: Data(json.utf8))
            var code: PipelineError.Code?
            do { _ = try response.map(Int.self, atKeyPath: "a") } catch { code = (error as? PipelineError)?.code }
            #expect(code == (isFound ? nil : .mapping(.json)))
        }
    }
}
