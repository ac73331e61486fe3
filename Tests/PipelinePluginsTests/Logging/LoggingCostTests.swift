import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("LoggingPlugin, cost of bodies", .watched)
struct LoggingCostTests {
    @Test("F09 Redacting JSON in JSON takes time linear in the number of names, known and new", arguments: ["k", "n"])
    func nestedNames(prefix: String) {
        let isLinear = isLinear(500) { count in
            let members = (0..<count).map { #""k\#($0)":0"# }.joined(separator: ",")
            let nested = (0..<count).map { #""{\"\#(prefix)\#($0)\":0}""# }.joined(separator: ",")
            let body = Data("{\(members),\"list\":[\(nested)]}".utf8)
            let text = Redactor.standard.bodyText(body, contentType: "application/json", limit: 16)
            #expect(text.hasPrefix(#"{"k0":0,"k1":0,"#))
        }
        #expect(isLinear)
    }
}
