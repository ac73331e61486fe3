import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("LoggingPlugin, cost of bodies", .realTime, .watched)
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

    @Test("F09 Redacting JSON in JSON with many names takes time proportional to its length")
    func nestedNames() {
        // Both are measured in turns, because the load of the machine varies.
        var (known, new) = (Duration.seconds(3_600), Duration.seconds(3_600))
        for _ in 0..<10 {
            known = min(known, cost(ofNestedNames: "k"))
            new = min(new, cost(ofNestedNames: "n"))
            if new < known * 4 { return }
        }
        Issue.record("\(new) is more than four times \(known)")
    }
}
