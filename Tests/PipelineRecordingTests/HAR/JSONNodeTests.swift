import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("JSONNode", .tags(.concurrent), .watched)
struct JSONNodeTests {
    @Test("The last of several members with one name wins; null reads as nil; new members are appended")
    func members() throws {
        var node = try JSONParser.parse(#"{"a":1,"b":null,"a":2}"#.utf8)
        #expect(node["a"] == .number("2"))
        #expect(node["b"] == nil)
        #expect(node["a"]?["x"] == nil)
        node["a"] = .null
        node["c"] = .bool(true)
        node["b"] = nil
        node["z"] = nil
        #expect(String(decoding: node.data(), as: UTF8.self) == #"{"a":1,"a":null,"c":true}"#)
    }

    @Test(
        "Numbers are read as integers and as floating-point values",
        arguments: [
            ("1", 1, 1.0), ("-7", -7, -7), ("1.9", 1, 1.9), ("-1.9", -1, -1.9), ("1e3", 1000, 1000),
            ("1e400", nil, nil),
            ("9223372036854775807", Int.max, 0x1p63), ("1e30", nil, 1e30), ("-0", 0, 0),
        ] as [(String, Int?, Double?)]
    )
    func numbers(text: String, int: Int?, double: Double?) {
        #expect(JSONNode.number(text).int == int)
        #expect(JSONNode.number(text).double == double)
    }

    @Test(
        "Times are milliseconds, rounded to 3 decimals",
        arguments: [
            (.zero, "0"), (.milliseconds(5), "5"), (.microseconds(1_500), "1.5"), (.nanoseconds(1_499), "0.001"),
            (.nanoseconds(1_500), "0.002"), (.nanoseconds(-1_500), "-0.002"), (.milliseconds(-12), "-12"),
            (.microseconds(10), "0.01"), (.seconds(Int64.max), "1000000000000"),
            (.seconds(Int64.min), "-1000000000000"),
        ] as [(Duration, String)]
    )
    func milliseconds(duration: Duration, text: String) {
        #expect(JSONNode.milliseconds(duration) == .number(text))
    }
}
