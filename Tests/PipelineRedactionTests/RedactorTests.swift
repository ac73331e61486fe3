import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor", .watched)
struct RedactorTests {
    private let redactor = Redactor.standard

    // MARK: URLs

    @Test("The URL of a request has its scheme, host and path")
    func urlOfRequest() throws {
        let request = try PipelineRequest(url: "https://a.test:8443/b?c=canary")
        #expect(redactor.url(of: request) == "https://a.test:8443/b?c=…")
    }

    // MARK: Development

    @Test(
        "The development redactor shows query values unless their name or value is secret",
        arguments: [
            ("https://a.test/b?page=2&q=two%20words&empty=", "https://a.test/b?page=2&q=two%20words&empty="),
            ("https://a.test/b?page=2&access_token=canary&pin=1", "https://a.test/b?page=2&access_token=…&pin=…"),
            ("https://a.test/b?access%5Ftoken=canary", "https://a.test/b?access%5Ftoken=…"),
            ("https://a.test/b?next=%2Fc%3Ftoken%3Dcanary", "https://a.test/b?next=…"),
            ("https://a.test/b?canary", "https://a.test/b?…"),
            ("https://u:canary@a.test/?page=2#canary", "https://…@a.test/?page=2#…"),
        ]
    )
    func development(url: String, shown: String) {
        #expect(Redactor.development.url(url) == shown)
    }

    @Test("The development redactor treats fields and bodies like the standard one, and accepts more names and values")
    func developmentElsewhere() {
        let fields: HTTPFields = [.authorization: "Bearer canary", .cookie: "a=b", .server: "x"]
        #expect(Redactor.development.fields(fields).map(\.value) == ["…", "…", "x"])
        let body = Data(#"{"pin":1,"a":2}"#.utf8)
        let text = Redactor.development.bodyText(body, contentType: "application/json", limit: 99)
        #expect(text == redactor.bodyText(body, contentType: "application/json", limit: 99))
        #expect(text.contains("1") == false)
        var stricter = Redactor.development.adding(secretValues: ["order-7"])
        stricter.secretNames.insert("customer")
        let url = stricter.url("https://a.test/?customer=ann&id=order-7&page=2")
        #expect(url == "https://a.test/?customer=…&id=…&page=2")
    }

    // MARK: Everything

    @Test("A redactor that reveals secrets hides only user names and passwords in URLs")
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
