import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("TransportConformance: messages", .tags(.concurrent), .watched)
struct ConformanceCheckMessagesTests {
    @Test("a transport that joins Set-Cookie does not pass")
    func joinedCookies() async {
        let checks = await TransportConformanceTests.checks { response in
            let joined = response.headers[values: .setCookie].joined(separator: ", ")
            if !joined.isEmpty { response.headers[.setCookie] = joined }
        }
        #expect(checks == ["repeated response fields are kept"])
    }

    @Test("a transport that loses a field does not pass")
    func lostField() async {
        #expect(await TransportConformanceTests.checks { $0.headers[.eTag] = nil } == ["header fields are kept"])
    }

    @Test("a transport that replaces every status with 200 does not pass")
    func alwaysOK() async {
        let checks = await TransportConformanceTests.checks { response in response.head.status = .ok }
        #expect(checks.contains("a status is handed over as it is"))
        #expect(checks.contains("a redirect is not followed"))
        #expect(checks.contains("the transport does not respond to a challenge"))
    }
}
