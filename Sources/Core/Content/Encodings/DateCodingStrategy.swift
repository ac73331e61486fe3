public import Foundation

/// A strategy for encoding and decoding dates in JSON, queries and forms.
///
/// A model's own strategy (``CustomDateEncodingStrategy``, ``CustomDateDecodingStrategy``) overrides that of the
/// request or the client.
///
/// | strategy | in JSON | in queries and forms |
/// |---|---|---|
/// | ``iso8601`` | `"2001-09-09T01:46:40Z"` | `2001-09-09T01:46:40Z` |
/// | ``iso8601Milliseconds`` | `"2001-09-09T01:46:40.000Z"` | `2001-09-09T01:46:40.000Z` |
/// | ``secondsSince1970`` | `1000000000`, with a fraction if there is one | the same |
/// | ``millisecondsSince1970`` | `1000000000000`, rounded | the same |
/// | ``formatted(_:)-(DateFormatter)`` | the formatter's text | the same |
/// | ``ofCoder`` | decided by the encoder or decoder in use | decided by the form encoder |
///
/// **Errors**: code `encoding` for a date that is not finite. If the date is written as text, also for a date outside
/// the years 1 to 9999.
public struct DateCodingStrategy: Sendable {
    /// The encoding of dates in queries and forms; `nil` uses that of the encoder.
    public let textEncoding: DateCodingStrategy.TextEncoding?
    /// The encoding of dates in JSON; `nil` uses that of the encoder.
    let jsonEncoding: JSONEncoder.DateEncodingStrategy?
    /// The decoding of dates in JSON; `nil` uses that of the decoder.
    let jsonDecoding: JSONDecoder.DateDecodingStrategy?

    /// Date and time in ISO 8601: written in UTC to the second, read with or without a fraction and with any UTC
    /// offset.
    public static let iso8601 = DateCodingStrategy(
        textEncoding: .iso8601,
        jsonEncoding: jsonEncoding(.iso8601),
        jsonDecoding: .custom(decodeISO8601)
    )

    /// Like ``iso8601``, but written with milliseconds: `2001-09-09T01:46:40.000Z`.
    public static let iso8601Milliseconds = DateCodingStrategy(
        textEncoding: .iso8601Milliseconds,
        jsonEncoding: jsonEncoding(.iso8601Milliseconds),
        jsonDecoding: .custom(decodeISO8601)
    )

    /// Seconds since 1970 as a number, with a fraction if there is one.
    public static let secondsSince1970 = DateCodingStrategy(
        textEncoding: .secondsSince1970,
        jsonEncoding: .secondsSince1970,
        jsonDecoding: .secondsSince1970
    )

    /// Milliseconds since 1970 as a number, rounded to whole ones.
    public static let millisecondsSince1970 = DateCodingStrategy(
        textEncoding: .millisecondsSince1970,
        jsonEncoding: .custom(encodeMilliseconds),
        jsonDecoding: .millisecondsSince1970
    )

    /// The strategy of the encoder or decoder in use.
    public static let ofCoder = DateCodingStrategy(textEncoding: nil, jsonEncoding: nil, jsonDecoding: nil)

    /// Returns a strategy that uses a date formatter, which must not be modified afterwards.
    public static func formatted(_ formatter: DateFormatter) -> DateCodingStrategy {
        let text = DateCodingStrategy.TextEncoding.custom { date in
            let offset = TimeInterval(formatter.timeZone?.secondsFromGMT(for: date) ?? 0)
            try DateCodingStrategy.TextEncoding.checkYear(of: date.addingTimeInterval(offset))
            return formatter.string(from: date)
        }
        return DateCodingStrategy(
            textEncoding: text,
            jsonEncoding: jsonEncoding(text),
            jsonDecoding: .formatted(formatter)
        )
    }

    /// Returns a strategy that uses a date pattern such as `yyyy-MM-dd`, in UTC and independent of the device's
    /// settings.
    public static func formatted(_ pattern: String) -> DateCodingStrategy {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = pattern
        return .formatted(formatter)
    }

    /// Whether the text ends with the time zone; the parser ignores anything after it.
    private static func endsWithZone(_ text: String) -> Bool {
        var rest = text.utf8.dropFirst("yyyy-MM-ddTHH:mm:ss".utf8.count)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if let first = rest.first, ".,".utf8.contains(first) { rest = rest.dropFirst().drop(while: digits.contains) }
        guard let sign = rest.first else { return false }
        if "Zz".utf8.contains(sign) { return rest.count == 1 }
        let offset = rest.dropFirst().filter { $0 != UInt8(ascii: ":") }
        return "+-".utf8.contains(sign) && [2, 4].contains(offset.count) && offset.allSatisfy(digits.contains)
    }

    /// Foundation's own strategies write a different date if they cannot represent one.
    private static func jsonEncoding(_ encoding: DateCodingStrategy.TextEncoding) -> JSONEncoder.DateEncodingStrategy {
        .custom { date, encoder in
            var container = encoder.singleValueContainer()
            do {
                try container.encode(encoding.text(date))
            } catch let refusal as ParameterTree.Refusal {
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "the value is \(refusal.what)"
                )
                throw EncodingError.invalidValue(date, context)
            }
        }
    }

    private static func encodeMilliseconds(_ date: Date, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        if let whole = Int64(exactly: milliseconds) {
            try container.encode(whole)
        } else {
            try container.encode(milliseconds)
        }
    }

    /// The description of the error for a value that is not a date in ISO 8601.
    static let notISO8601 = "not a date in ISO 8601"

    private static let iso8601Styles = [
        Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
    ]

    /// Older versions of Foundation's own strategy reject fractions.
    private static func decodeISO8601(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self), endsWithZone(text),
            let date = iso8601Styles.lazy.compactMap({ try? $0.parse(text) }).first
        else { throw DecodingError.dataCorruptedError(in: container, debugDescription: notISO8601) }
        return date
    }
}
