import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PipelineResponse.retryAfter", .watched)
struct PipelineResponseRetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private static func delay(_ values: [String], date: String? = nil, now: Date = now) -> Duration? {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .retryAfter, value: value)) }
        fields[.date] = date
        let request = PipelineRequest(head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/"))
        return PipelineResponse(request: request, statusCode: 503, headers: fields).retryAfter(now: now)
    }

    @Test(
        "T01 A number of seconds is parsed whatever its size, and anything else is rejected",
        arguments: [
            ("0", 0), ("5", 5), ("00", 0), ("120", 120), ("99999999999999999999", .max), ("9223372036854775807", .max),
            ("9223372036854775808", .max), ("-1", nil), ("+1", nil), ("1.5", nil), ("1e3", nil), ("0x10", nil),
            ("", nil),
            ("５", nil), ("5 s", nil), ("five", nil), ("5,", nil), (",5", nil), ("5;6", nil), (" 5", 5),
        ] as [(String, Int64?)]
    )
    func seconds(value: String, seconds: Int64?) {
        #expect(Self.delay([value]) == seconds.map { .seconds($0) })
    }

    @Test("T01 A number of seconds with 60,000 digits is clamped to the maximum")
    func manyDigits() {
        #expect(Self.delay([String(repeating: "9", count: 60_000)]) == .seconds(Int64.max))
        #expect(Self.delay([String(repeating: "0", count: 60_000)]) == .zero)
    }

    @Test(
        "T01 The longest of several values counts, and invalid ones are ignored",
        arguments: [
            (["5", "120"], 120), (["120", "5"], 120), (["5, 120"], 120), (["120,5"], 120), (["x", "5"], 5),
            (["5, x"], nil),
            (["x", "y"], nil), (["5", "Sun, 06 Nov 1994 08:50:37 GMT"], 60), ([], nil),
        ] as [([String], Int64?)]
    )
    func several(values: [String], seconds: Int64?) {
        #expect(Self.delay(values) == seconds.map { .seconds($0) })
    }

    @Test(
        "T02 A date counts from the response's Date and Age, as for a response from a cache",
        arguments: [("240", 60), ("0", 300), ("400", 0), ("x", 300), (nil, 300)] as [(String?, Int64)]
    )
    func aged(age: String?, seconds: Int64) throws {
        var fields: HTTPFields = [
            .retryAfter: "Sun, 06 Nov 1994 08:54:37 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        fields[.age] = age
        let request = PipelineRequest(head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/"))
        let response = PipelineResponse(request: request, statusCode: 503, headers: fields)
        #expect(response.retryAfter(now: Self.now.addingTimeInterval(240)) == .seconds(seconds))
    }

    @Test(
        "T02 A date in any HTTP format counts from now if the response has no Date",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:57 GMT", 20), ("Sunday, 06-Nov-94 08:49:57 GMT", 20),
            ("Sun Nov  6 08:49:57 1994", 20),
            ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Mon, 01 Jan 0001 00:00:00 GMT", 0),
            ("Wed, 06 Nov 1994 08:49:57 GMT", 20), ("Sunt, 06 Nov 1994 08:49:57 GMT", nil),
            ("Sat, 31 Dec 1994 23:59:60 GMT", 4_806_623), ("Fri, 31 Dec 9999 23:59:59 GMT", 252_618_189_022),
            ("Sunday, 06-Nov-95 08:49:37 GMT", 31_536_000), ("Sun, 06 Nov 1994 08:49:57", nil),
        ] as [(String, Int64?)]
    )
    func dates(value: String, seconds: Int64?) {
        #expect(Self.delay([value]) == seconds.map { .seconds($0) })
    }

    @Test(
        "T02 A date counts from the response's Date if that is valid",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:27 GMT", 30), ("Sunday, 06-Nov-94 08:49:27 GMT", 30),
            ("Sun Nov  6 08:49:27 1994", 30),
            ("Sun, 06 Nov 1994 09:49:57 GMT", 0), ("garbage", 20), ("", 20),
        ]
    )
    func dateField(date: String, seconds: Int64) {
        #expect(Self.delay(["Sun, 06 Nov 1994 08:49:57 GMT"], date: date) == .seconds(seconds))
        #expect(Self.delay(["5"], date: date) == .seconds(5))
    }

    @Test("An extreme current date does not trap and yields a wait in range")
    func oddNow() {
        for now in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: -1e300), Date(timeIntervalSince1970: 1e300),
        ] {
            let delay = Self.delay(["Sun, 06 Nov 1994 08:49:57 GMT"], now: now) ?? .zero
            #expect(delay >= .zero && delay <= .seconds(Int64.max))
        }
        #expect(Self.delay(["Sun, 06 Nov 1994 08:49:57 GMT"], now: Date(timeIntervalSince1970: .nan)) == nil)
    }
}
