import Foundation
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("JSONNode: text", .tags(.concurrent), .watched)
struct JSONNodeTextTests {
    @Test(
        "A value without whitespace is written exactly as it was read",
        arguments: [
            "null", "true", "false", "0", "-0", "1.50", "1E+400", "-1.5e-3", "12345678901234567890123", #""""#, "[]",
            "{}",
            #"{"b":1,"a":2,"b":[{}]}"#, #""\"\\\n\r\t\u0000\u001f\u007f/ü👍""#, "[[],[[1]],\"\"]",
        ]
    )
    func roundTrip(text: String) throws {
        #expect(String(decoding: try JSONParser.parse(text.utf8).data(), as: UTF8.self) == text)
    }

    @Test("Indented text has a line for each member and element")
    func lines() throws {
        let node = try JSONParser.parse(#"{"a":[1,{"b":[]}],"c":{}}"#.utf8)
        let text = "{\n    \"a\": [\n      1,\n      {\n        \"b\": []\n      }\n    ],\n    \"c\": {}\n  }"
        #expect(String(decoding: node.data(indentation: 1), as: UTF8.self) == text)
    }
}
