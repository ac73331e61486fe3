import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("HTTPDate", .watched)
struct HTTPDateTests {
    /// 2026-01-01 00:00:00 UTC.
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    @Test(
        "The IMF-fixdate form is parsed to the second; any other text is nil",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Wed, 31 Dec 2098 00:00:00 GMT", 4_070_822_400),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Wed, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06 Nov 1994 08:49:37 GMT", nil), ("Xyz, 06 Nov 1994 08:49:37 GMT", nil),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun Nov  6 08:49:37 1994", nil), ("", nil),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("Sun, 06 Nov 1994 08:60:00 GMT", nil), ("Sun, 06 Nov 1994 08:49:61 GMT", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 nov 1994 08:49:37 GMT", nil), ("Sun, -6 Nov 1994 08:49:37 GMT", nil),
            ("sun, 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 gmt", nil),
            ("Sun,  06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 GMT ", nil),
            ("Sun, 06 Nov 1994 8:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49 GMT", nil),
            ("Sun, 06 Nov 94 08:49:37 GMT", nil), ("Sun, 06 Nov 0000 08:49:37 GMT", nil),
            ("Sun, 06 Nov 10000 08:49:37 GMT", nil), ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
            ("Tue, 29 Feb 2100 00:00:00 GMT", nil), ("Wed, 31 Apr 2025 00:00:00 GMT", nil),
            ("Sun, 32 Dec 1994 08:49:37 GMT", nil), ("Sun, ０６ Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Int?)]
    )
    func fixdate(text: String, expected: Int?) {
        #expect(HTTPDate(fixdate: text)?.secondsSince1970 == expected)
        let isOtherForm = text.contains("-Nov-") || text.hasPrefix("Sun Nov")
        if !isOtherForm { #expect(HTTPDate(text, now: Self.now)?.secondsSince1970 == expected) }
    }

    @Test(
        "The forms of RFC 850 and asctime are also parsed",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sun Nov 16 08:49:37 1994", 784_975_777), ("Wednesday, 06-Nov-94 08:49:60 GMT", 784_111_800),
            ("Fri Dec 31 23:59:59 9999", 253_402_300_799), ("Saturday, 29-Feb-20 00:00:00 GMT", 1_582_934_400),
            ("Sun, 06-Nov-94 08:49:37 GMT", nil), ("Sunday, 6-Nov-94 08:49:37 GMT", nil),
            ("Sunday, 06-nov-94 08:49:37 GMT", nil), ("Sunday, 06-Nov-1994 08:49:37 GMT", nil),
            ("Sunday, 06-Nov-94 08:49:37 UTC", nil), ("Sunday, 06 Nov 94 08:49:37 GMT", nil),
            ("Sunday 06-Nov-94 08:49:37 GMT", nil), ("Friday, 29-Feb-19 00:00:00 GMT", nil),
            ("Sunday, 06-Nov-94-95 08:49:37 GMT", nil), ("Someday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun Nov 6 08:49:37 1994", nil), ("Sun Nov 06 08:49:37 1994", nil), ("Sun Nov  16 08:49:37 1994", nil),
            ("Sun Nov   6 08:49:37 1994", nil), ("Sun nov  6 08:49:37 1994", nil), ("Sun Nov  6 08:49:37 94", nil),
            ("Sun Nov  6 08:49:37 GMT 1994", nil), ("Sunday Nov  6 08:49:37 1994", nil),
            ("Sun Nov  0 08:49:37 1994", nil),
            ("Sat Feb 30 08:49:37 2019", nil), ("784111777", nil), ("1994-11-06T08:49:37Z", nil), (" ", nil),
            ("\u{0}", nil),
        ] as [(String, Int?)]
    )
    func obsolete(text: String, expected: Int?) {
        #expect(HTTPDate(text, now: Self.now)?.secondsSince1970 == expected)
        #expect(HTTPDate(fixdate: text) == nil)
    }

    @Test(
        "A two-digit year is the latest one at most 50 years ahead",
        arguments: [
            // now, digits, year
            (2026, "26", 2026), (2026, "25", 2025), (2026, "75", 2075), (2026, "77", 1977), (2026, "94", 1994),
            (2026, "00", 2000), (1999, "00", 2000), (1999, "49", 2049), (1999, "50", 1950), (2099, "01", 2101),
            (2099, "99", 2099), (2000, "99", 1999), (2000, "50", 2050), (2000, "51", 1951),
        ]
    )
    func century(present: Int, digits: String, year: Int) throws {
        // The current time and the date are both the first second of a year.
        let now = try #require(HTTPDate(fixdate: "Mon, 01 Jan \(present) 00:00:00 GMT"))
        let read = HTTPDate("Monday, 01-Jan-\(digits) 00:00:00 GMT", now: now.date)
        #expect(read == HTTPDate(fixdate: "Mon, 01 Jan \(year) 00:00:00 GMT"))
    }

    @Test("A date exactly 50 years ahead is in the future; one second later is in the past")
    func fiftyYears() {
        let ahead = HTTPDate("Wednesday, 01-Jan-76 00:00:00 GMT", now: Self.now)
        #expect(ahead == HTTPDate(fixdate: "Wed, 01 Jan 2076 00:00:00 GMT"))
        let past = HTTPDate("Thursday, 01-Jan-76 00:00:01 GMT", now: Self.now)
        #expect(past == HTTPDate(fixdate: "Thu, 01 Jan 1976 00:00:01 GMT"))
    }

    @Test("Dates from 1586 to 9999 match Foundation's calendar")
    func everyDay() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // Foundation's calendar is Julian before 1582.
        for day in stride(from: -140_000, through: 2_932_896, by: 997) {
            let date = Date(timeIntervalSince1970: TimeInterval(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let year = String(("000" + String(parts.year ?? 0)).suffix(4))
            let text =
                "Mon, \(String(("0" + String(parts.day ?? 0)).suffix(2))) \(months[(parts.month ?? 1) - 1]) \(year) 00:00:00 GMT"
            #expect(HTTPDate(fixdate: text)?.date == date, "\(text)")
        }
    }

    @Test(
        "A current date that is not finite or out of range does not crash",
        arguments: [TimeInterval.nan, .infinity, -.infinity, 1e300, -1e300]
    )
    func oddNow(seconds: TimeInterval) {
        let now = Date(timeIntervalSince1970: seconds)
        #expect(HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT", now: now)?.secondsSince1970 == 784_111_777)
        _ = HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: now)
    }
}
