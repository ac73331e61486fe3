import Foundation
import Pipeline
import PipelineResilience
import TestSupport
import Testing

@Suite("Redactor, header fields", .watched)
struct RedactorFieldsTests {
    private let redactor = Redactor.standard

    @Test(
        "A header field's name is always shown, and its value only if the field is on the list",
        arguments: [
            ("Accept", "text/html", "text/html"),
            ("Content-Length", "12", "12"),
            ("Retry-After", "120", "120"),
            ("Host", "a.test", "a.test"),
            ("X-RateLimit-Remaining", "3", "3"),
            ("Authorization", "Bearer canary", "…"),
            ("Cookie", "id=canary", "…"),
            ("Set-Cookie", "id=canary; Path=/", "…"),
            ("Proxy-Authorization", "Basic canary", "…"),
            ("Proxy-Authenticate", "Digest nonce=canary", "…"),
            ("X-Api-Key", "canary", "…"),
            ("X-Nobody-Thought-Of", "canary", "…"),
            ("Link", "<https://a.test/?token=canary>; rel=next", "…"),
        ]
    )
    func headerField(name: String, value: String, shown: String) throws {
        let field = HTTPField(name: try #require(HTTPField.Name(name)), value: value)
        let fields = redactor.fields(HTTPFields([field]))
        #expect(fields.map(\.name) == [name])
        #expect(fields.map(\.value) == [shown])
    }

    @Test("Repeated header fields are kept, in order")
    func repeatedFields() {
        let fields: HTTPFields = [.vary: "a", .setCookie: "x", .vary: "b"]
        let shown = redactor.fields(fields)
        #expect(shown.map(\.name) == ["Vary", "Set-Cookie", "Vary"])
        #expect(shown.map(\.value) == ["a", "…", "b"])
    }

    @Test("A field that is marked as secret is hidden even if it is on the list")
    func markedSecret() {
        let fields = redactor.fields([.eTag: "canary", .location: "/canary"]) { $0 == .eTag || $0 == .location }
        #expect(fields.map(\.value) == ["…", "…"])
    }

    @Test("Authorization and cookies cannot be put on the list")
    func alwaysSecret() {
        let names: Set<HTTPField.Name> = [.authorization, .cookie, .setCookie, .proxyAuthorization]
        let redactor = Redactor(shownHeaderFields: names)
        for name in names {
            #expect(redactor.fields(HTTPFields([HTTPField(name: name, value: "canary")])).map(\.value) == ["…"])
        }
    }

    @Test("A field can be added to the list")
    func extendedList() throws {
        let name = try #require(HTTPField.Name("X-Trace"))
        let redactor = Redactor(shownHeaderFields: Redactor.standardHeaderFields.union([name]))
        #expect(redactor.fields(HTTPFields([HTTPField(name: name, value: "7")])).map(\.value) == ["7"])
    }

    @Test("Control characters in a value are shown as escapes", arguments: ["\u{85}", "\u{202e}abc", "\u{2028}abc"])
    func controls(value: String) {
        let shown = redactor.fields([.server: value]).map(\.value).joined()
        #expect(shown.hasPrefix("\\u{"))
        let controls: Set<Unicode.Scalar> = ["\u{85}", "\u{202e}", "\u{2028}"]
        #expect(controls.isDisjoint(with: shown.unicodeScalars))
    }
}
