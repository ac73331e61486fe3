import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Rules that logs and recordings share", .watched)
struct SharedRulesTests {
    private let recording = RecordingRedaction(.standard)

    private func shown(_ body: String, _ type: String) -> [String] {
        let data = Data(body.utf8)
        return [
            Redactor.standard.bodyText(data, contentType: type, limit: 1_000),
            String(decoding: recording.body(data, contentType: type), as: UTF8.self),
        ]
    }

    @Test(
        "A secret in the text of a JSON string is hidden, and the rest of the text is kept",
        arguments: [
            (#"{"a":"login with password=canary failed"}"#, #"{"a":"login with password=¤ failed"}"#),
            (#"{"a":"see https://h/?token=canary now"}"#, #"{"a":"see https://h/?token=¤ now"}"#),
            (#"{"a":"at ftp://bob:canary@h, x"}"#, #"{"a":"at ftp://¤@h, x"}"#),
            (#"{"a":"b=1&api_key=canary&c=2"}"#, #"{"a":"b=1&api_key=¤&c=2"}"#),
            (#"{"a":"<b><pin>canary</pin></b>"}"#, #"{"a":"<b><pin>¤</pin></b>"}"#),
            (#"{"a":"got \"token\": \"canary\""}"#, #"{"a":"got \"token\": \"¤\""}"#),
        ]
    )
    func jsonStrings(body: String, expected: String) {
        let texts = shown(body, "application/json").map { $0.replacingOccurrences(of: "\\/", with: "/") }
        #expect(texts == ["…", "REDACTED"].map { expected.replacingOccurrences(of: "¤", with: $0) })
    }

    @Test(
        "A secret in JSON or a URL within a form field is hidden, whatever escapes the value has",
        arguments: [
            "data=%7B%22token%22%3A%22canary%22%7D", "data=%7B%22token%22%3A%22canary%22%7D%",
            "data=%FF%7B%22token%22%3A%22canary%22%7D", "next=https%3A%2F%2Fh%2F%3Ftoken%3Dcanary",
            "a=b&c=//u:canary@h",
            "api%5Fkey%FF=canary",
        ]
    )
    func formValues(body: String) {
        for text in shown(body, "application/x-www-form-urlencoded") { #expect(!text.contains("canary")) }
        #expect(!Redactor(shownQueryNames: ["data", "next", "c"]).url("https://h/?" + body).contains("canary"))
        #expect(!recording.url("https://h/?" + body).contains("canary"))
    }

    @Test("A form field whose value holds no secret is shown as it was written")
    func plainFormValue() {
        let body = "data=%7B%22a%22%3A%22b%22%7D&next=https%3A%2F%2Fh%2F%3Fpage%3D2&rate=100%25"
        #expect(shown(body, "application/x-www-form-urlencoded") == [body, body])
        #expect(Redactor(shownQueryNames: ["data", "next", "rate"]).url("/?" + body) == "/?" + body)
    }

    @Test("A parameter in a URL's path is hidden if its name is secret")
    func pathParameters() {
        let url = "https://h/a;jsessionid=canary/b;page=2"
        #expect(Redactor.standard.url(url) == "https://h/a;jsessionid=…;page=2")
        #expect(!recording.url(url).contains("canary"))
    }

    @Test("Secrets in the text of a shown header field are hidden")
    func shownFields() throws {
        let name = try #require(HTTPField.Name("Link"))
        let fields: HTTPFields = [name: "<https://h/?token=canary&page=2>; rel=next", .server: "a token=canary"]
        let people = Redactor(shownHeaderFields: [name, .server]).fields(fields)
        #expect(people.map(\.value) == ["<https://h/?token=…&page=2>; rel=next", "a token=…"])
        let recorded = recording.fields(fields).map(\.value)
        #expect(recorded == ["<https://h/?token=REDACTED&page=2>; rel=next", "a token=REDACTED"])
    }
}
