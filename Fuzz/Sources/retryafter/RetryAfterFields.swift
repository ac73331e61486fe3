import Foundation
import Pipeline

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes the reading of dates and Retry-After fields.
///
/// The first byte selects a date alone, or the fields of a response. The next byte sets the current date, up to about
/// the year 4000.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzRetryAfter(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let readsDate = input.number(below: 2) == 0
    let now = Date(timeIntervalSince1970: Double(input.number(below: 256)) * 252_000_000)
    if readsDate {
        readDate(&input, now)
    } else {
        readFields(&input, now)
    }
    return 0
}

/// Checks that a date that is read can be written again in the same form.
private func readDate(_ input: inout FuzzInput, _ now: Date) {
    let text = String(decoding: input.remainder(), as: UTF8.self)
    guard let date = HTTPDate(text, now: now) else {
        require(HTTPDate(fixdate: text) == nil, "HTTPDate(fixdate:) reads a date that HTTPDate(_:now:) refuses")
        return
    }
    let seconds = date.secondsSince1970
    require((-62_135_596_800...253_402_300_800).contains(seconds), "the year does not have four digits: \(seconds) s")
    let isWritten = HTTPDateForm.all.contains { form in
        // A leap second is read as the following second.
        form.text(seconds) == text.dayless || form.text(seconds - 1).replacing(":59 ", with: ":60 ") == text.dayless
    }
    require(isWritten, "\(text) was read as \(seconds) s, which is another date")
    guard text.contains("-") else { return }
    let years = (date.date.timeIntervalSince(now)) / (365.2425 * 86_400)
    require(years > -50.1 && years < 50.1, "a year of two digits is \(years) years away, not at most 50")
}

/// Checks that the wait is never negative, and at least as long as each number requests.
private func readFields(_ input: inout FuzzInput, _ now: Date) {
    var fields = HTTPFields()
    if input.number(below: 2) == 1 { fields[.date] = input.text(upTo: 40) }
    var longest: Int?
    while !input.isEmpty {
        let text = input.text(upTo: 40)
        let field = HTTPField(name: .retryAfter, value: text)
        fields.append(field)
        let isNumber = !field.value.isEmpty && field.value.utf8.allSatisfy { (48...57).contains($0) }
        if isNumber { longest = max(longest ?? 0, Int(field.value) ?? .max) }
    }
    let request = PipelineRequest(head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/"))
    let wait = PipelineResponse(request: request, statusCode: 503, headers: fields).retryAfter(now: now)
    if let longest {
        require((wait ?? .zero) >= .seconds(longest), "the wait is shorter than the requested \(longest) s")
    }
    guard let delay = wait else { return }
    require(delay >= .zero && delay <= .seconds(Int64.max), "the wait \(delay) is negative or too long")
}

/// A date format without the name of the day, written independently of the reader.
private struct HTTPDateForm: Sendable {
    let text: @Sendable (Int) -> String

    static let all = [
        HTTPDateForm { second in
            let (year, month, day, time) = parts(of: second)
            return "\(two(day)) \(months[month]) \(four(year)) \(time) GMT"
        },
        HTTPDateForm { second in
            let (year, month, day, time) = parts(of: second)
            return "\(two(day))-\(months[month])-\(two(year % 100)) \(time) GMT"
        },
        HTTPDateForm { second in
            let (year, month, day, time) = parts(of: second)
            return "\(months[month]) \(day < 10 ? " " : "")\(day) \(time) \(four(year))"
        },
    ]

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func four(_ number: Int) -> String { String(("000\(number)").suffix(4)) }

    /// Finds the date by iterating over the years.
    private static func parts(of second: Int) -> (year: Int, month: Int, day: Int, time: String) {
        var day = Int((Double(second) / 86_400).rounded(.down))
        let time = second - day * 86_400
        day += 719_162
        let cycle = 146_097
        var year = 1 + 400 * (day / cycle)
        day %= cycle
        while day >= (isLeap(year) ? 366 : 365) {
            day -= isLeap(year) ? 366 : 365
            year += 1
        }
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var month = 0
        while day >= lengths[month] {
            day -= lengths[month]
            month += 1
        }
        let text = [time / 3_600, time / 60 % 60, time % 60].map(two).joined(separator: ":")
        return (year, month, day + 1, text)
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}

extension String {
    /// The text without the name of the day and the space after it.
    fileprivate var dayless: String { split(separator: " ", maxSplits: 1).last.map(String.init) ?? "" }
}
