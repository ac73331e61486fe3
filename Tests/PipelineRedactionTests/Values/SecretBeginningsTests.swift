import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRedaction

@Suite("SecretBeginnings", .watched)
struct SecretBeginningsTests {
    private func mayBeFound(_ values: [String], in text: String) -> Bool {
        var beginnings = SecretBeginnings()
        for value in values { beginnings.insert(value[...]) }
        return text.withBytes(beginnings.mayBeFound)
    }

    @Test("F06 In ten thousand cases, no value is missed, whatever its form and position")
    func property() {
        var random = PipelineRandom.seeded(17)
        for index in 0..<10_000 {
            let secret = random.makeSecret() + "tail"
            let form = SecretForm.allCases[index % SecretForm.allCases.count]
            let text = form.text(of: secret, &random)
            let whole = random.makeString(upTo: 12) + "<" + text + random.makeString(upTo: 12)
            guard mayBeFound(["another-secret", secret, "a-third-secret"], in: whole) else {
                Issue.record("case \(index), \(form): \(secret.debugDescription) in \(whole.debugDescription)")
                return
            }
        }
    }

    @Test(
        "A text without the value is ruled out, even if it escapes other characters",
        arguments: [
            "", "canary", "#1 → GET https://a.test/items/1?page=…", "https://a.test/canary-/1", "/filter%5Bcanary%5D",
            "%25%35%42%", "Y2FuYXJ", "/canary%252D2",
        ]
    )
    func others(text: String) {
        #expect(!mayBeFound(["canary-123"], in: text))
    }

    @Test("Values whose beginnings count as equal in plain text are each found in base64")
    func folded() {
        for value in ["can ry_123", "can+ry/123", "can-ry/123"] {
            let encoded = Data(value.utf8).base64EncodedString()
            #expect(mayBeFound(["can ry_123", "can+ry/123", "can-ry/123"], in: "<\(encoded)>"))
        }
    }

    @Test("A text with JSON escapes or a long text may contain any value")
    func unsearched() {
        #expect(mayBeFound(["canary-123"], in: #"\u0041"#))
        #expect(mayBeFound(["canary-123"], in: String(repeating: "x", count: 4_097)))
        #expect(!mayBeFound(["canary-123"], in: String(repeating: "x", count: 4_096)))
    }

    // MARK: Redactors

    @Test("F06 A request's token is hidden in each form, and nothing else is", arguments: SecretForm.allCases)
    func token(form: SecretForm) throws {
        var random = PipelineRandom.seeded(18)
        let token = "c4n/ry+t0ken=~9"
        let request = try PipelineRequest(url: "https://a.test/", headers: [.authorization: "Bearer " + token])
        let redactor = Redactor.standard.adding(secretsOf: request)
        let text = "a <\(form.text(of: token, &random))> b"
        #expect(redactor.text(text) == Redactor(secretValues: [token]).text(text))
        #expect(redactor.text(text) != text)
        #expect(redactor.containsSecret(in: text.utf8))
        #expect(redactor.text("a <token> b") == "a <token> b")
        #expect(!redactor.containsSecret(in: "a <token> b".utf8))
    }

    @Test("F06 A token is hidden in full even if part of it is a declared value")
    func declaredPart() throws {
        let request = try PipelineRequest(url: "https://a.test/", headers: [.authorization: "Bearer head-canary-tail"])
        let redactor = Redactor(secretValues: ["canary"]).adding(secretsOf: request)
        #expect(redactor.url("https://a.test/head-canary-tail/canary/x") == "https://a.test/…/…/x")
        #expect(redactor.adding(secretValues: ["declared"]).text("head-canary-tail, declared") == "…, …")
        #expect(redactor.description.hasSuffix("2 secret values"))
    }

    @Test("Declared values are hidden in texts without a request's secrets")
    func declaredOnly() throws {
        let request = try PipelineRequest(url: "https://a.test/", headers: [.cookie: "a=canary-123"])
        let redactor = Redactor(secretValues: ["word"]).adding(secretsOf: request)
        #expect(redactor.text("a word") == "a …")
        #expect(redactor.text("a canary-123") == "a …")
        #expect(redactor.text("abc") == "abc")
    }

    @Test("Settings changed after a request's secrets are added do not change which of them are hidden")
    func laterNames() throws {
        let request = try PipelineRequest(url: "https://a.test/?token=canary-123")
        var redactor = Redactor.standard.adding(secretsOf: request)
        redactor.shownQueryNames = ["token"]
        redactor.secretNames = []
        #expect(redactor.text("a canary-123") == "a …")
    }
}
