import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Differences between two JSON documents", .watched)
struct JSONDifferenceTests {
    private func items(_ first: String, _ second: String) throws -> [String] {
        let redactor = Redactor(secretValues: ["opensesame"])
        let (one, other) = (try JSONParser.parse(first.utf8), try JSONParser.parse(second.utf8))
        return JSONDifference(one, other, redactor: redactor).items.map { item in
            let texts = [item.first, item.second].map { node in
                node.map { $0.isSecret ? "secret" : String(decoding: $0.value.data(), as: UTF8.self) } ?? "none"
            }
            return "\(item.path) \(texts[0]) \(texts[1])"
        }
    }

    @Test(
        "Each differing value is listed with its path",
        arguments: [
            (#"{"a":1,"b":{"c":[1,2]}}"#, #"{"a":2,"b":{"c":[1,3]}}"#, ["$.a 1 2", "$.b.c[1] 2 3"]),
            (#"{"a":1,"b":2}"#, #"{"c":3,"b":2}"#, ["$.a 1 none", "$.c none 3"]),
            ("[1]", "[1,[2]]", ["$[1] none [2]"]), ("[1,2]", "[1]", ["$[1] 2 none"]),
            (#"{"a":{}}"#, #"{"a":[]}"#, ["$.a {} []"]), ("1", "null", ["$ 1 null"]),
            (#"{"a b":1,"é":1}"#, #"{"a b":2,"é":2}"#, [#"$["a b"] 1 2"#, "$.é 1 2"]),
        ]
    )
    func paths(first: String, second: String, expected: [String]) throws {
        #expect(try items(first, second) == expected)
    }

    @Test(
        "Member order and whitespace are not differences",
        arguments: [(#"{"a":1,"b":2}"#, #"{ "b": 2, "a": 1 }"#), ("[ ]", "[]"), ("1", "1")]
    )
    func equal(first: String, second: String) throws {
        #expect(try items(first, second) == [])
    }

    @Test(
        "A value with a secret name is marked secret as a whole, and a declared value in a name is hidden",
        arguments: [
            (#"{"token":"a"}"#, #"{"token":"b"}"#, "$.token secret secret"),
            (#"{"password":{"a":1}}"#, #"{"password":{"a":2}}"#, "$.password secret secret"),
            (#"{"password":null}"#, #"{"password":7}"#, "$.password null secret"),
            (#"{"opensesame":1}"#, "{}", #"$["…"] 1 none"#),
        ]
    )
    func secrets(first: String, second: String, expected: String) throws {
        #expect(try items(first, second) == [expected])
    }
}
