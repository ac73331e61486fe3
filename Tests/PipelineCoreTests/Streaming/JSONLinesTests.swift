import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("JSON Lines", .watched)
struct JSONLinesTests {
    struct Price: Codable, Hashable, Sendable {
        var id: Int
        var price: Double?
    }

    private func decoded(_ text: String, limit: Int = 1_000) -> [Decoded<Price>] {
        let decoder = LineDecoder<Price>(decoder: JSONDecoder(), maximumByteCount: limit)
        let data = Data(text.utf8)
        return [Decoded(decoder, [data]), Decoded(decoder, data.singly)]
    }

    @Test(
        "Each line that is not blank is a value, whatever its line ending",
        arguments: [
            #"{"id":1}"# + "\n" + #"{"id":2}"# + "\n",
            #"{"id":1}"# + "\n" + #"{"id":2}"#,
            #"{"id":1}"# + "\r\n" + #"{"id":2}"# + "\r\n",
            "\n\n" + #"{"id":1}"# + "\n \t\r\n" + #"{"id":2}"# + "\n\n",
            "\u{feff}" + #"{"id":1}"# + "\n" + #" {"id":2} "#,
            #"{"id":"# + "\r" + "1}\n" + #"{"id":2}"# + "\n",
        ]
    )
    func values(_ text: String) {
        for decoded in decoded(text) {
            #expect(decoded.elements == [Price(id: 1), Price(id: 2)])
            #expect(decoded.failure == nil)
        }
    }

    @Test("An empty stream and blank lines yield no values")
    func blank() {
        for text in ["", "\n", "\r\n\r\n", " ", "\u{feff}", "\u{feff}\n"] {
            for decoded in decoded(text) {
                #expect(decoded.elements.isEmpty)
                #expect(decoded.failure == nil)
            }
        }
    }

    @Test(
        "A line that fails to decode is mapping.object with its number (counting blank lines) and place, not its text"
    )
    func failure() {
        for decoded in decoded(#"{"id":1}"# + "\n\n" + #"{"id":"s3cr3t"}"# + "\n" + #"{"id":4}"#) {
            #expect(decoded.elements == [Price(id: 1)])
            let place = #"expected Int, found a string at "id""#
            #expect(decoded.failure == "mapping.object line 3 does not decode to Price: \(place)")
        }
        for text in ["nothing\n", "{\"id\":1\n}\n", "{\"id\":1}{\"id\":2}\n"] {
            for decoded in decoded(text) {
                #expect(decoded.elements.isEmpty)
                #expect(decoded.failure == "mapping.object line 1 does not decode to Price: it is not JSON")
            }
        }
    }

    @Test("A line that is too long fails with limit.lineBytes, after the values before it")
    func limit() {
        for decoded in decoded(#"{"id":1}"# + "\n" + #"{"id":1234}"# + "\n", limit: 10) {
            #expect(decoded.elements == [Price(id: 1)])
            #expect(decoded.failure?.hasPrefix("limit.lineBytes") == true)
        }
    }

    @Test("Lines are decoded with the given decoder")
    func decoder() {
        struct Snake: Decodable, Hashable { var unitPrice: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let lines = LineDecoder<Snake>(decoder: decoder, maximumByteCount: 100)
        #expect(Decoded(lines, [Data(#"{"unit_price":3}"#.utf8)]).elements == [Snake(unitPrice: 3)])
    }
}
