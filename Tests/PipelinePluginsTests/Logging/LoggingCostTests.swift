import Foundation
import Pipeline
import Testing

@Suite("LoggingPlugin, what a body costs")
struct LoggingCostTests {
    private func cost(ofNestedNames prefix: String) -> Duration {
        let count = 8_000
        let members = (0..<count).map { #""k\#($0)":0"# }.joined(separator: ",")
        let nested = (0..<count).map { #""{\"\#(prefix)\#($0)\":0}""# }.joined(separator: ",")
        let body = Data("{\(members),\"list\":[\(nested)]}".utf8)
        return ContinuousClock().measure {
            let text = Redactor.standard.bodyText(body, contentType: "application/json", limit: 16)
            #expect(text.hasPrefix(#"{"k0":0,"k1":0,"#))
        }
    }

    @Test("F09 JSON in JSON with many names takes no more than its length does")
    func nestedNames() {
        // In turns, as other work on the machine comes and goes.
        var (known, new) = (Duration.seconds(3_600), Duration.seconds(3_600))
        for _ in 0..<10 {
            known = min(known, cost(ofNestedNames: "k"))
            new = min(new, cost(ofNestedNames: "n"))
            if new < known * 4 { return }
        }
        Issue.record("\(new) is more than four times \(known)")
    }
}
