import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("URLText: shown", .watched)
struct URLTextShownTests {
    /// A URL that cannot be requested and how its error shows it.
    static let namedURLs: [(String, String)] = [
        ("no URL", #""no URL""#), ("https://api example.com", #""https://api example.com""#),
        ("https://h.test/a b/canary?canary#canary", #""https://h.test/…""#),
        ("https://h.test?canary", #""https://h.test?…""#),
        ("https://h.test#canary", #""https://h.test#…""#), ("/canary", #""/…""#), ("//h/canary", #""/…""#),
        ("api.example.com/canary", #""api.example.com/…""#), ("localhost:8080/canary", #""localhost:8080/…""#),
        ("ftp://h:21/canary", #""ftp://h:21/…""#), ("https:canary", #""https:…""#), ("https:/canary", #""https:/…""#),
        ("https://ann:canary@h.test/x y", #""https://…@h.test/…""#), ("canary@h.test", #""…@h.test""#),
        ("https://ann:can@canary@h.test", #""https://…@h.test""#), ("https://ann:canary/x@h.test/", #""https://…/…""#),
        ("https://ann:canary?x@h.test/", #""https://…?…""#), ("https://canary#x@h.test/", #""https://…#…""#),
        ("https://ann:canary/ary@h.test", #""https://…/…""#), ("https://h.test/a b?mail=canary@h", #""https://…/…""#),
        ("https://ann:canary%40h.test/", #""https://…/…""#), ("https://h.test:canary/", #""https://h.test:…/…""#),
        ("https://[::1/x", #""https://[::1/…""#), ("https://\r\nh/", #""https://\r\nh/…""#),
        ("https://" + String(repeating: "h", count: 70), "\"https://" + String(repeating: "h", count: 56) + "\"…"),
    ]

    @Test(
        "The error for a URL that cannot be requested shows its scheme and host, but no secrets",
        arguments: 0..<namedURLs.count
    )
    func nameOfURL(_ row: Int) {
        let (url, text) = Self.namedURLs[row]
        #expect(URLText.shown(url) == text)
        #expect(!text.contains("canary"))
    }
}
