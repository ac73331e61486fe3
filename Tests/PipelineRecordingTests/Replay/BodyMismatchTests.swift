import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Errors for bodies that do not match", .tags(.concurrent), .watched)
struct BodyMismatchTests {
    /// Returns the last line of the error for a request whose body matches no entry.
    private func line(
        _ sent: String,
        _ recorded: String,
        type: String = "application/json",
        _ matching: RequestMatching = .standard,
        redactor: Redactor = .standard
    ) async throws -> String {
        try await line(Data(sent.utf8), Data(recorded.utf8), type: type, matching, redactor: redactor)
    }

    private func line(
        _ sent: Data,
        _ recorded: Data,
        type: String,
        _ matching: RequestMatching = .standard,
        redactor: Redactor = .standard
    ) async throws -> String {
        let bench = try RecordingBench()
        let url = "https://api.example/orders"
        let old = RecordedExchange.Request(method: "POST", url: url, headers: [.contentType: type], body: recorded)
        var file = HARFile()
        file.append(HAREntry(RecordedExchange(request: old, response: .init(status: 200))))
        try file.write(to: bench.file)
        let replay = try ReplayTransport(bench.file, matching: matching, redactor: redactor)
        let provider = bench.provider(replay) { request in
            request.headers[.contentType] = type
            request.body = .bytes(sent)
        }
        let failure = try #require(try await provider.failure(bench.target("/orders", method: .post)))
        #expect(failure.code == .noMatch)
        let line = String(failure.reason.split(separator: "\n").last ?? "")
        let start = "entry 0, POST \"\(url)\": "
        #expect(line.hasPrefix(start))
        return String(line.dropFirst(start.count))
    }

    private static let long = (0..<2_000).map { "\"\($0)\"" }.joined(separator: ",")

    @Test(
        "JSON bodies are compared value by value, however long they are",
        arguments: [
            (#"{"a":[LONG],"z":"two"}"#, #"{"a":[LONG],"z":"one"}"#, #"at $.z (sent "two", recorded "one")"#),
            (
                #"{"z":"two","a":[LONG]}"#, #"{ "a" : [LONG],"z":"one"}"#, #"at $.z (sent "two", recorded "one")"#
            ),
            (#"{"a":[{"b":1.0}, 2]}"#, #"{"a":[{"b":1}]}"#, "at $.a[1] (sent 2, recorded nothing)"),
            (#"{"a":1}"#, #"{"a":"1"}"#, #"at $.a (sent 1, recorded "1")"#),
            (
                #"{"a":1,"b":{"c":2,"d":3},"e":4,"f":5}"#, #"{"b":{"d":30,"c":20},"e":40,"f":50,"a":10}"#,
                "at $.a (sent 1, recorded 10), at $.b.c (sent 2, recorded 20), at $.b.d (sent 3, recorded 30) and 2 more"
            ),
            (
                #"["XXX1"]"#, #"["XXX2"]"#,
                #"at $[0] (sent …"xxxxxxxxxxxxxxxx1", recorded …"xxxxxxxxxxxxxxxx2")"#
            ),
        ]
    )
    func json(sent: String, recorded: String, text: String) async throws {
        let xs = String(repeating: "x", count: 3_000)
        let bodies = [sent, recorded].map { $0.replacing("LONG", with: Self.long).replacing("XXX", with: xs) }
        #expect(try await line(bodies[0], bodies[1]) == "body differs \(text)")
    }

    @Test("ignored members and values that match a redacted one are not named")
    func alike() async throws {
        let sent = #"{"id":"7","note":"x","when":1,"z":2}"#
        let recorded = #"{"id":"REDACTED","note":"x","when":2,"z":1}"#
        let line = try await line(sent, recorded, .standard.ignoring(body: ["when"]))
        #expect(line == "body differs at $.z (sent 2, recorded 1)")
    }

    @Test("declared values are hidden before a text is cut, even in names and in bodies other than JSON")
    func secrets() async throws {
        let redactor = Redactor(secretValues: ["canary-0123456789"])
        let start = String(repeating: "a", count: 75)
        let end = String(repeating: "b", count: 100)
        let sent = #"{"canary-0123456789":"\#(start)canary-0123456789\#(end)1"}"#
        let recorded = #"{"canary-0123456789":"\#(start)canary-0123456789\#(end)2"}"#
        for type in ["application/json", "text/plain"] {
            let line = try await line(sent, recorded, type: type, redactor: redactor)
            #expect(line.hasPrefix("body differs "))
            #expect(!line.contains("canary") && !line.contains("0123"))
        }
        let line = try await line("\(start)x", "\(start)canary-0123456789\ny", type: "text/plain", redactor: redactor)
        let context = start.suffix(16)
        #expect(line.hasPrefix(#"body differs (sent 76 bytes …"\#(context)x", recorded"#))
        #expect(line.hasSuffix(#" bytes …"\#(context)REDACTED\ny")"#))
    }

    @Test(
        "other bodies are shown with their size, from shortly before the first difference",
        arguments: [
            (
                "text/plain", String(repeating: "0123456789", count: 300) + "x",
                String(repeating: "0123456789", count: 300) + "y",
                #"sent 3001 bytes …"4567890123456789x", recorded 3001 bytes …"4567890123456789y""#
            ),
            (
                "text/plain", "x" + String(repeating: "é", count: 100), "y",
                "sent 201 bytes \"x\(String(repeating: "é", count: 79))\"…, recorded 1 byte \"y\""
            ),
            ("text/plain", "x", "", #"sent 1 byte "x", recorded none"#),
            (
                "application/x-www-form-urlencoded", "b=2&a=1&c=3", "a=1&c=4&b=2",
                #"sent 11 bytes "a=1&b=2&c=3", recorded 11 bytes "a=1&b=2&c=4""#
            ),
            ("application/json", "{", "[", #"sent 1 byte "{", recorded 1 byte "[""#),
        ]
    )
    func text(type: String, sent: String, recorded: String, text: String) async throws {
        #expect(try await line(sent, recorded, type: type) == "body differs (\(text))")
    }

    @Test("multipart bodies are shown without their boundaries")
    func multipart() async throws {
        func body(_ boundary: String, _ text: String) -> String {
            let head = "Content-Disposition: form-data; name=\"a\""
            return "--\(boundary)\r\n\(head)\r\n\r\n\(text)\r\n--\(boundary)--\r\n"
        }
        let line = try await line(body("b", "one"), body("b", "two"), type: "multipart/form-data; boundary=b")
        #expect(line.contains("one\", recorded") && line.contains("two\")"))
        #expect(!line.contains("--b"))
    }

    @Test("binary bodies are shown as their sizes and the offset of the first difference")
    func binary() async throws {
        let line = try await line(Data([1, 0xff, 2]), Data([1, 0xff, 3]), type: "application/octet-stream")
        #expect(line == "body differs (sent 3 bytes, recorded 3 bytes, from byte 2 on)")
    }
}
