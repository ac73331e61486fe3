import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CacheDate", .watched)
struct CacheDateTests {
    @Test(
        "RFC 9111 §4.2: a date matches in any case and in all three forms",
        arguments: [
            "Fri, 15 Jan 2027 08:00:00 GMT", "FRI, 15 Jan 2027 08:00:00 GMT", "Fri, 15 JAN 2027 08:00:00 GMT",
            "fri, 15 jan 2027 08:00:00 gmt", "Fri, 15 Jan 2027 08:00:00 gMT", "Friday, 15-Jan-27 08:00:00 GMT",
            "FRIDAY, 15-jan-27 08:00:00 gmt", "Fri Jan 15 08:00:00 2027", "fri jan 15 08:00:00 2027",
            " Fri, 15 Jan 2027 08:00:00 GMT\t",
        ]
    )
    func valid(text: String) {
        #expect(CacheDate.seconds(text, now: CacheSamples.now) == 1_800_000_000)
    }

    @Test(
        "RFC 9111 §5.3: anything else is not a date",
        arguments: [
            "", "0", "-1", "Fri, 15 Jan 2027 08:00:00 UTC", "Fri, 15 Jan 2027 08:00:00 AEST",
            "Fri, 15 Jan 27 08:00:00 GMT", "Fri 15 Jan 2027 08:00:00 GMT", "Fri, 15  Jan  2027 08:00:00 GMT",
            "Fri, 15-Jan-2027 08:00:00 GMT", "Fri, 15 Jan 2027 08.00.00 GMT", "Fri, 15 Jan 2027 8:00:00 GMT",
            "Fri, 15 Jan 2027 08:00:00", "Fri, 15 Jan 2027 08:00:00 GMT, Fri, 15 Jan 2027 08:00:00 GMT", "gmt",
        ]
    )
    func invalid(text: String) {
        #expect(CacheDate.seconds(text, now: CacheSamples.now) == nil)
    }

    @Test(
        "RFC 9110 §5.6.7: a date is written in the form that senders must generate",
        arguments: [
            (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-12_212_553_600, "Sat, 01 Jan 1583 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (1_800_000_000, "Fri, 15 Jan 2027 08:00:00 GMT"),
        ]
    )
    func written(seconds: Double, expected: String) {
        #expect(CacheDate.text(Date(timeIntervalSince1970: seconds)) == expected)
    }

    @Test(
        "A date outside of years 1583 to 9999 is not written",
        arguments: [-62_135_596_800, -12_212_553_601, 253_402_300_800, 1e300, .nan]
    )
    func unwritable(seconds: Double) {
        #expect(CacheDate.text(Date(timeIntervalSince1970: seconds)) == nil)
    }

    @Test("RFC 9110 §5.6.7: a written date is read back as the same second")
    func roundTrip() {
        for seconds in stride(from: -2_000_000_000, through: 60_000_000_000, by: 12_345_677) {
            let text = CacheDate.text(Date(timeIntervalSince1970: Double(seconds)))
            #expect(text.flatMap { CacheDate.seconds($0, now: CacheSamples.now) } == seconds)
        }
    }

    @Test("RFC 9110 §5.6.7: the fast form gives the same result as HTTPDate, also for dates that do not exist")
    func fixedDate() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2024 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
            "Tue, 29 Feb 2000 23:59:60 GMT", "Mon, 29 Feb 2100 00:00:00 GMT", "Fri, 31 Apr 2027 00:00:00 GMT",
            "Fri, 00 Apr 2027 00:00:00 GMT", "Fri, 15 Jan 2027 24:00:00 GMT", "Fri, 15 Jan 2027 00:60:00 GMT",
            "Fri, 15 Jan 2027 00:00:61 GMT", "Fri, 15 Jan 0000 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT", "Foo, 15 Jan 2027 00:00:00 GMT", "Fri, 15 Foo 2027 00:00:00 GMT",
            "Fri, 1x Jan 2027 00:00:00 GMT", "Fri; 15 Jan 2027 00:00:00 GMT", "Fri, 15 Jan 2027 00:00:00 GMD",
            "Fri, 15 Jan 2027 00:00:00 GMT ", "Fri,  5 Jan 2027 00:00:00 GMT",
        ] {
            #expect(FixedDate.seconds(text) == HTTPDate(fixdate: text)?.secondsSince1970, "\(text)")
        }
    }
}
