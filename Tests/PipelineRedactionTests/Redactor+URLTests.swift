import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Redactor, URLs", .watched)
struct RedactorURLTests {
    private let redactor = Redactor.standard

    @Test(
        "A URL is shown without query values, fragment, user name and password",
        arguments: [
            ("https://a.test/b/c", "https://a.test/b/c"),
            ("https://a.test/b?page=canary&token=canary", "https://a.test/b?page=…&token=…"),
            ("https://a.test/b?canary", "https://a.test/b?…"),
            ("https://a.test/b?a=canary?b=canary", "https://a.test/b?a=…"),
            ("https://a.test/b?a==canary&&b=", "https://a.test/b?a=…&&b=…"),
            ("https://a.test/b?=canary", "https://a.test/b?=…"),
            ("https://a.test/b?", "https://a.test/b?"),
            ("https://a.test/b?a=\u{301}canary", "https://a.test/b?a=…"),
            ("https://a.test/b?\u{301}a=canary", "https://a.test/b?\u{301}a=…"),
            ("https://a.test/#access_token=canary", "https://a.test/#…"),
            ("https://a.test/#\u{301}canary", "https://a.test/#…"),
            ("https://canary:canary@a.test/b", "https://…@a.test/b"),
            ("https://canary@canary@a.test", "https://…@a.test"),
            ("https://canary\\canary@a.test/b", "https://…@a.test/b"),
            ("//canary:canary@a.test/b@c", "//…@a.test/b@c"),
            ("https:\\\\canary@a.test", "https:…"),
            ("canary:canary@a.test", "canary:…"),
            ("can_ary:canary@a.test/b", "…@a.test/b"),
            ("mailto:canary@a.test", "mailto:…"),
            ("https://canary:canary#canary@a.test/b", "https://…#…"),
            ("//canary:canary?canary@a.test/b", "//…?…"),
            ("https://a.test:8080/b", "https://a.test:8080/b"),
            ("https://[fe80::1]:8080/b", "https://[fe80::1]:8080/b"),
            ("https://[fe80::1]/b", "https://[fe80::1]/b"),
            ("/b?code=canary", "/b?code=…"),
            ("?code=canary", "?code=…"),
            ("", ""),
        ]
    )
    func url(text: String, shown: String) {
        #expect(Data(redactor.url(text).utf8) == Data(shown.utf8))
    }

    @Test("The value of a query parameter on the list is shown, however its name is encoded")
    func shownQueryNames() {
        let redactor = Redactor(shownQueryNames: ["page", "per page"])
        #expect(
            redactor.url("/?page=2&%70age=3&per+page=4&per%20page=5&Page=6&x=7")
                == "/?page=2&%70age=3&per+page=4&per%20page=5&Page=…&x=…"
        )
    }

    @Test(
        "Fields that hold a URL follow the rule for URLs",
        arguments: [.location, .referer, .contentLocation] as [HTTPField.Name]
    )
    func urlFields(name: HTTPField.Name) {
        let field = HTTPField(name: name, value: "https://u:canary@a.test/b?code=canary&state=canary#canary")
        #expect(redactor.fields(HTTPFields([field])).map(\.value) == ["https://…@a.test/b?code=…&state=…#…"])
    }
}
