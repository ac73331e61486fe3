import Foundation
import TestSupport
import Testing

@testable import PipelineCaching
@testable import PipelineCore

@Suite("CookieDate", .watched)
struct CookieDateTests {
    @Test(
        "RFC 6265bis §5.1.1: a date is read in any shape that has a time, a day, a month and a year",
        arguments: [
            // The forms of RFC 9110, with and without the name of the day.
            ("Tue, 09 Feb 2027 03:04:05 GMT", "2027-02-09T03:04:05Z"),
            ("Tuesday, 09-Feb-27 03:04:05 GMT", "2027-02-09T03:04:05Z"),
            ("Tue Feb  9 03:04:05 2027", "2027-02-09T03:04:05Z"),
            ("9 Feb 2027 3:4:5", "2027-02-09T03:04:05Z"),
            // The parts in any order; the first number of one or two digits is the day.
            ("03:04:05 2027 9 Feb", "2027-02-09T03:04:05Z"),
            ("Feb 09 03:04:05 2027", "2027-02-09T03:04:05Z"),
            ("2027 Feb 9 03:04:05", "2027-02-09T03:04:05Z"),
            ("27 Feb 09 03:04:05", "2009-02-27T03:04:05Z"),
            // Any delimiter, and any number of them.
            ("\t 9/Feb/2027\t03:04:05 ;;", "2027-02-09T03:04:05Z"),
            ("9+Feb!2027@03:04:05~~", "2027-02-09T03:04:05Z"),
            ("[9]{Feb}`2027`^03:04:05_", "2027-02-09T03:04:05Z"),
            ("9.Feb\"2027'03:04:05", "2027-02-09T03:04:05Z"),
            // The month by its first three letters, in any case.
            ("9 FEBRUARY 2027 03:04:05", "2027-02-09T03:04:05Z"),
            ("9 fEbonacci 2027 03:04:05", "2027-02-09T03:04:05Z"),
            // Anything after the digits, unless it is a digit.
            ("9th Feb 2027AD 03:04:05Z", "2027-02-09T03:04:05Z"),
            ("9 Feb 2027 03:04:05.678", "2027-02-09T03:04:05Z"),
            ("9 Feb 2027 03:04:05:06", "2027-02-09T03:04:05Z"),
            ("9é Feb 2027 03:04:05\u{301}", "2027-02-09T03:04:05Z"),
            // Time zones are ignored, also as a number.
            ("9 Feb 2027 03:04:05 +0500", "2027-02-09T03:04:05Z"),
            ("9 Feb 2027 03:04:05 PST", "2027-02-09T03:04:05Z"),
            // Of several parts of a kind, the first counts.
            ("9 Feb 2027 03:04:05 8 Mar 2028 06:07:08", "2027-02-09T03:04:05Z"),
            // A token that is not a valid time may still be a day or a year.
            ("9:30 Feb 2027 03:04:05", "2027-02-09T03:04:05Z"),
            // Years of two to four digits.
            ("1 Jan 70 00:00:00", "1970-01-01T00:00:00Z"),
            ("1 Jan 99 00:00:00", "1999-01-01T00:00:00Z"),
            ("1 Jan 00 00:00:00", "2000-01-01T00:00:00Z"),
            ("1 Jan 69 00:00:00", "2069-01-01T00:00:00Z"),
            ("1 Jan 0070 00:00:00", "1970-01-01T00:00:00Z"),
            ("1 Jan 020 00:00:00", "2020-01-01T00:00:00Z"),
            ("1 Jan 1601 00:00:00", "1601-01-01T00:00:00Z"),
            ("31 Dec 9999 23:59:59", "9999-12-31T23:59:59Z"),
            // Leap years and the ends of months.
            ("29 Feb 2028 00:00:00", "2028-02-29T00:00:00Z"),
            ("29 Feb 2000 00:00:00", "2000-02-29T00:00:00Z"),
            ("31 Jul 2027 00:00:00", "2027-07-31T00:00:00Z"),
            ("30 Apr 2027 00:00:00", "2027-04-30T00:00:00Z"),
        ]
    )
    func date(text: String, expected: String) {
        #expect(CookieDate.date(in: text)?.formatted(.iso8601) == expected)
    }

    @Test(
        "RFC 6265bis §5.1.1: a date that lacks a part, or does not exist, is not read",
        arguments: [
            "", " ;; ", "tomorrow", "2027-02-09T03:04:05Z", "1802142245",
            // A part is missing.
            "Feb 2027 03:04:05", "9 2027 03:04:05", "9 Feb 03:04:05", "9 Feb 2027",
            // A time needs three fields of one or two digits.
            "9 Feb 2027 03:04", "9 Feb 2027 03:04:", "9 Feb 2027 :04:05", "9 Feb 2027 003:04:05",
            "9 Feb 2027 03:004:05", "9 Feb 2027 03:04:005", "9 Feb 2027 x03:04:05", "9 Feb 2027 03h:04:05",
            "9 Feb 2027 03:04m:05", "9 Feb 2027 -", "9 Feb 2027 03.04.05",
            // A field out of range is not replaced by a later one.
            "9 Feb 2027 24:00:00", "9 Feb 2027 00:60:00", "9 Feb 2027 00:00:60", "9 Feb 2027 24:00:00 03:04:05",
            "0 Feb 2027 03:04:05", "00 Feb 2027 03:04:05", "32 Jan 2027 03:04:05", "32 Jan 2027 03:04:05 9",
            // Days that the month does not have.
            "29 Feb 2027 03:04:05", "29 Feb 2100 03:04:05", "30 Feb 2028 03:04:05", "31 Apr 2027 03:04:05",
            "31 Jun 2027 03:04:05", "31 Sep 2027 03:04:05", "31 Nov 2027 03:04:05",
            // Years.
            "9 Feb 1600 03:04:05", "9 Feb 100 03:04:05", "9 Feb 20270 03:04:05", "9 Feb 2 03:04:05",
            // Months.
            "9 Fe 2027 03:04:05", "9 F\u{E9}b 2027 03:04:05", "9 02 2027 03:04:05", "9 xFeb 2027 03:04:05",
            // Line breaks, colons and letters do not delimit.
            "9\nFeb\n2027\n03:04:05", "9Feb2027 03:04:05", "9 Feb 2027T03:04:05",
        ]
    )
    func noDate(text: String) {
        #expect(CookieDate.date(in: text) == nil)
    }

    @Test(
        "RFC 6265bis §5.1.1: each month has its name",
        arguments: zip(
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
            ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"]
        )
    )
    func month(name: String, number: String) {
        let date = CookieDate.date(in: "9 \(name) 2027 03:04:05")
        #expect(date?.formatted(.iso8601) == "2027-\(number)-09T03:04:05Z")
    }

    @Test("RFC 6265bis §5.1.1: days are counted as in the Gregorian calendar, from 1601 to 9999")
    func calendar() throws {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // 367 and 146,097, the days after which the calendar repeats, have no common divisor.
        for day in stride(from: -134_774, to: 2_932_897, by: 367) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 45_296)
            let parts = date.formatted(.iso8601).prefix(10).split(separator: "-")
            try #require(parts.count == 3)
            let month = try #require(Int(parts[1]))
            let text = "\(parts[2]) \(months[month - 1]) \(parts[0]) 12:34:56"
            try #require(CookieDate.date(in: text) == date, "\(text)")
        }
    }
}
