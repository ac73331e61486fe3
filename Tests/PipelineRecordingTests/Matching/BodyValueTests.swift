import Foundation
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("RequestMatching: bodies", .watched)
struct BodyValueTests {
    @Test(
        "bodies are compared according to their form",
        arguments: [
            (RequestMatching.BodyForm.json, "", "{\"a\": 1, \"b\": [1.0, 2]}", "{\"b\":[1,2],\"a\":1}", true),
            (.json, "", "{\"a\": 1}", "{\"a\": 2}", false), (.json, "", "[1,2]", "[2,1]", false),
            (.json, "", "{\"a\":\"\\u00e9\"}", "{\"a\":\"\u{e9}\"}", true), (.json, "", "no json", "no json", true),
            (.bytes, "application/json", "{\"a\": 1}", "{\"a\":1}", false), (.form, "", "a=1&b=2", "b=2&a=1", true),
            (.form, "", "a=1&b=2", "a=1&b=3", false), (.automatic, "application/json", "{\"a\": 1}", "{\"a\":1}", true),
            (.automatic, "application/vnd.x+json; charset=utf-8", "{\"a\": 1}", "{\"a\":1}", true),
            (.automatic, "application/x-www-form-urlencoded", "a=1&b=2", "b=2&a=1", true),
            (.automatic, "text/plain", "a=1&b=2", "b=2&a=1", false), (.automatic, "", "{\"a\": 1}", "{\"a\":1}", false),
        ]
    )
    func bodies(
        form: RequestMatching.BodyForm,
        type: String,
        live: String,
        recorded: String,
        isMatch: Bool
    ) async throws {
        let live = RequestMatchingTests.request("http://h/", "POST", type: type, body: live)
        let recorded = RequestMatchingTests.request("http://h/", "POST", type: type, body: recorded)
        #expect(try await RequestMatchingTests.matches(live, recorded, [.body(form)]) == isMatch)
    }

    @Test(
        "ignored names are left out of JSON at any depth and of forms, but not of other bodies",
        arguments: [
            ("application/json", #"{"when":1,"a":[{"when":2,"b":3}]}"#, #"{"a":[{"b":3.0,"when":4}]}"#, true),
            ("application/json", #"{"when":1,"a":1}"#, #"{"when":1,"a":2}"#, false),
            ("application/json", #"["when"]"#, #"[]"#, false),
            ("application/x-www-form-urlencoded", "a=1&when=2&wh%65n=3", "a=1", true),
            ("application/x-www-form-urlencoded", "a=when", "", false), ("text/plain", "a=1&when=2", "a=1", false),
        ]
    )
    func ignored(type: String, live: String, recorded: String, isMatch: Bool) async throws {
        let live = RequestMatchingTests.request("http://h/", "POST", type: type, body: live)
        let recorded = RequestMatchingTests.request("http://h/", "POST", type: type, body: recorded)
        let part = RequestMatching.Part.body(ignoring: ["when"])
        #expect(try await RequestMatchingTests.matches(live, recorded, [part]) == isMatch)
    }

    @Test("no body matches an empty body, but not any other")
    func noBody() async throws {
        #expect(
            try await RequestMatchingTests.matches(
                RequestMatchingTests.request(),
                RequestMatchingTests.request(body: ""),
                .standard
            )
        )
        #expect(
            try await !RequestMatchingTests.matches(
                RequestMatchingTests.request("http://h/", "POST", body: "x"),
                RequestMatchingTests.request("http://h/", "POST"),
                .standard
            )
        )
    }

    @Test(
        "a multipart body is compared without its boundary",
        arguments: [
            ("--A", "one", true), ("--A", "two", false), ("--AB", "one", true),
        ]
    )
    func multipart(boundary: String, content: String, isMatch: Bool) async throws {
        func body(_ boundary: String, _ content: String) -> RecordedExchange.Request {
            let part = "Content-Disposition: form-data; name=\"a\"\r\n\r\n\(content)"
            let text = "--\(boundary)\r\n\(part)\r\n--\(boundary)\r\n\(part)\r\n--\(boundary)--\r\n"
            return RequestMatchingTests.request(
                "http://h/",
                "POST",
                type: "multipart/form-data; boundary=\"\(boundary)\"",
                body: text
            )
        }
        #expect(
            try await RequestMatchingTests.matches(body("x1", "one"), body(boundary, content), .standard) == isMatch
        )
    }

    @Test("a content-coded request body is decoded before it is compared")
    func coded() async throws {
        let text = "{\"a\": 1}"
        let headers: HTTPFields = [.contentEncoding: "gzip", .contentType: "application/json"]
        var live = RequestMatchingTests.request("http://h/", "POST", headers: headers)
        live.body = Deflate.gzip(Data(text.utf8))
        #expect(
            try await RequestMatchingTests.matches(
                live,
                RequestMatchingTests.request("http://h/", "POST", body: "{\"a\":1}", headers: headers),
                .standard
            )
        )
    }
}
