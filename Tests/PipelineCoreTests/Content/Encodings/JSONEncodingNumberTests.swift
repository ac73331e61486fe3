import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("JSONEncoding, numbers", .watched)
struct JSONEncodingNumberTests {
    @Test("Numbers are written as numbers at every level")
    func numbers() throws {
        var request = try PipelineRequest(.post, url: "https://a.test")
        let parameters: RequestParameters = [
            "a": 1, "b": Decimal(25) / 10, "c": [2, 3], "d": ["e": -40], "f": 2.0,
        ]
        try JSONEncoding.default.encode(parameters, into: &request)
        let text = String(decoding: try #require(request.body.bytes), as: UTF8.self)
        #expect(text == #"{"a":1,"b":2.5,"c":[2,3],"d":{"e":-40},"f":2}"#)
    }
}
