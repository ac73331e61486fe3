import Foundation
import HTTPTypes
import Pipeline
import Testing

@Suite("Redactor")
struct RedactorTests {
    private let redactor = Redactor.standard

    // MARK: URLs

    @Test("The URL of a request has its scheme, host and path")
    func urlOfRequest() throws {
        let request = try PipelineRequest(url: "https://a.test:8443/b?c=canary")
        #expect(redactor.url(of: request) == "https://a.test:8443/b?c=…")
    }

    // MARK: Everything

    @Test("A redactor that reveals secrets hides nothing but user names and passwords in URLs")
    func revealing() {
        let redactor = Redactor.revealingSecrets
        #expect(redactor.fields([.authorization: "Bearer x"]) { _ in true }.map(\.value) == ["Bearer x"])
        #expect(redactor.fields([.location: "https://u:p@a.test/?b=c"]).map(\.value) == ["https://…@a.test/?b=c"])
        #expect(redactor.url("https://u:p@a.test/?token=x#y") == "https://…@a.test/?token=x#y")
        #expect(
            redactor.bodyText(Data(#"{"pin":1}"#.utf8), contentType: "application/json", limit: 99) == #"{"pin":1}"#
        )
        #expect(redactor.bodyText(Data(#"{"pin":"#.utf8), contentType: "application/json", limit: 99) == #"{"pin":"#)
    }
}
