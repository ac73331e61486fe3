import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, declaring values", .watched)
struct RedactorSecretValuesTests {
    private let secret = #"s3cr/t+P ss"é\?"#
    private var redactor: Redactor { Redactor(secretValues: [secret]) }

    @Test("A redactor without declared values changes no text and finds no secret")
    func none() {
        #expect(Redactor.standard.text("password=x") == "password=x")
        #expect(!Redactor.standard.containsSecret(in: Data("password=x".utf8)))
        #expect(Redactor.standard.adding(secretValues: []).text("x") == "x")
    }

    @Test("Values are added to the existing ones")
    func adding() {
        let redactor = Redactor(secretValues: ["one-1"]).adding(secretValues: ["two-2", "one-1"])
        #expect(redactor.text("one-1 two-2 three") == "… … three")
    }

    @Test("A value of fewer than four bytes is rejected with a message that shows only its length")
    func tooShort() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Redactor(secretValues: ["long enough", "xyz"])
            }
        )
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.contains("secret value 1") })
        #expect(line.contains("secret value 1 has 3 bytes, not 4 or more"))
        #expect(!line.contains("xyz"))
        #expect(Redactor(secretValues: ["wxyz"]).text("wxyz") == "…")
    }
}
