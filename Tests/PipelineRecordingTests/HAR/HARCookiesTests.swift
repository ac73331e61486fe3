import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("HARCookies", .watched)
struct HARCookiesTests {
    private func entry(
        url: String = "https://h/a?b=c%20d&e",
        request headers: HTTPFields = [:],
        body: Data? = nil,
        _ response: RecordedExchange.Response? = .init(status: 200)
    ) -> JSONNode {
        HAREntry(
            RecordedExchange(
                request: .init(method: "POST", url: url, headers: headers, body: body),
                response: response,
                start: HAREntryWritingTests.start,
                headDelay: .nanoseconds(1_234_567),
                duration: .microseconds(5_000),
                httpVersion: "HTTP/2"
            )
        ).json
    }

    private func text(_ node: JSONNode?) -> String { node.map { String(decoding: $0.data(), as: UTF8.self) } ?? "" }

    @Test("Request cookies are name-value pairs; each Set-Cookie field is one cookie with its attributes")
    func cookies() {
        var response = HTTPFields()
        for value in [
            "a=1=2; Path=/x; domain=h.example; Expires=Sun, 06 Nov 1994 08:49:37 GMT; HttpOnly; secure; SameSite=Lax",
            "b=\"q r\"; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "c; Expires=never", "d=4; Max-Age=-5",
            "e=;Max-Age=x",
        ] {
            response.append(HTTPField(name: .setCookie, value: value))
        }
        let node = entry(request: [.cookie: "a=1; b = \"2 3\";c;; d=4=5"], .init(status: 200, headers: response))
        #expect(
            text(node["request"]?["cookies"])
                == #"[{"name":"a","value":"1"},{"name":"b","value":"\"2 3\""},{"name":"c","value":""},{"name":"d","value":"4=5"}]"#
        )
        let rest = #""httpOnly":false,"secure":false}"#
        #expect(
            text(node["response"]?["cookies"])
                == #"[{"name":"a","value":"1=2","path":"/x","domain":"h.example","expires":"1994-11-06T08:49:37.000Z","#
                + #""httpOnly":true,"secure":true,"sameSite":"Lax"},"#
                + #"{"name":"b","value":"\"q r\"","expires":"2026-11-21T02:13:26.119Z",\#(rest),{"name":"c","value":"",\#(rest),"#
                + #"{"name":"d","value":"4","expires":"2026-11-21T02:12:26.119Z",\#(rest),{"name":"e","value":"",\#(rest)]"#
        )
    }
}
