import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, search for declared values", .watched)
struct SecretAutomatonTests {
    private let secret = #"s3cr/t+P ss"é\?"#
    private var redactor: Redactor { Redactor(secretValues: [secret]) }

    @Test("F06 Text without a declared value stays unchanged, in ten thousand near misses")
    func nearMisses() {
        var random = PipelineRandom.seeded(407)
        for index in 0..<10_000 {
            var bytes = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".shuffled(using: &random).prefix(12))
            let redactor = Redactor(secretValues: [String(bytes)])
            bytes[Int.random(in: 1..<11, using: &random)] = "7"
            let form = SecretForm.allCases[index % SecretForm.allCases.count]
            let text = random.makeString(upTo: 8) + form.text(of: String(bytes), &random) + random.makeString(upTo: 8)
            guard redactor.text(text) == text, !redactor.containsSecret(in: text.utf8) else {
                Issue.record("case \(index), \(form): \(text.debugDescription)")
                return
            }
        }
    }

    @Test("Values that overlap, contain or repeat each other are found as in a separate search for each one")
    func manyValues() {
        var random = PipelineRandom.seeded(408)
        func word(_ count: ClosedRange<Int>) -> String {
            String((0..<Int.random(in: count, using: &random)).map { _ in Bool.random(using: &random) ? "a" : "b" })
        }
        for _ in 0..<2_000 {
            let secrets = (0..<Int.random(in: 1...4, using: &random)).map { _ in word(4...9) }
            let text = Array(word(0...40))
            var isHidden = [Bool](repeating: false, count: text.count)
            for secret in secrets.map(Array.init) where secret.count <= text.count {
                for start in 0...text.count - secret.count where Array(text[start..<start + secret.count]) == secret {
                    for index in start..<start + secret.count { isHidden[index] = true }
                }
            }
            var expected = ""
            for index in text.indices {
                if !isHidden[index] {
                    expected.append(text[index])
                } else if index == 0 || !isHidden[index - 1] {
                    expected += "…"
                }
            }
            #expect(Redactor(secretValues: secrets).text(String(text)) == expected)
        }
    }
}
