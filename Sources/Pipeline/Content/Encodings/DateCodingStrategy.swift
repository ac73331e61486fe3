public import Foundation

/// How dates are written and read: in JSON, in queries, in forms.
///
/// A model's own strategy (``CustomDateEncodingStrategy``, ``CustomDateDecodingStrategy``) wins over that of the request or the client.
///
/// | strategy | in JSON | in queries and forms |
/// |---|---|---|
/// | ``iso8601`` | `"2001-09-09T01:46:40Z"` | `2001-09-09T01:46:40Z` |
/// | ``secondsSince1970`` | `1000000000`, with a fraction when there is one | the same |
/// | ``millisecondsSince1970`` | `1000000000000`, rounded | the same |
/// | ``formatted(_:)-(DateFormatter)`` | the formatter's text | the same |
/// | ``ofCoder`` | as the encoder or decoder does that is there | as the form encoder does |
///
/// **Errors**: code `encoding` for a date that is not finite and, where it is text, for one that is not of the years 1 to 9999.
public struct DateCodingStrategy: Sendable {
    private enum Kind: Sendable {
        case iso8601
        case seconds
        case milliseconds
        case formatted(DateFormatter)
        case ofCoder
    }

    private static let wholeSeconds = Date.ISO8601FormatStyle()
    private static let fractionalSeconds = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    private let kind: Kind

    /// Date and time in UTC, written to the second; read with or without a fraction, and with any offset from UTC.
    public static let iso8601 = DateCodingStrategy(kind: .iso8601)

    /// Seconds since 1970.
    public static let secondsSince1970 = DateCodingStrategy(kind: .seconds)

    /// Whole milliseconds since 1970.
    public static let millisecondsSince1970 = DateCodingStrategy(kind: .milliseconds)

    /// As the encoder or decoder does that is there, which may have a strategy of its own.
    public static let ofCoder = DateCodingStrategy(kind: .ofCoder)

    /// As a formatter says; do not change it afterwards.
    public static func formatted(_ formatter: DateFormatter) -> DateCodingStrategy {
        DateCodingStrategy(kind: .formatted(formatter))
    }

    /// As a pattern says, for example `yyyy-MM-dd`: the same on every device, in UTC.
    public static func formatted(_ pattern: String) -> DateCodingStrategy {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = pattern
        return .formatted(formatter)
    }

    /// Whether the zone is the end of a date; the parser passes over what stands behind it.
    private static func endsWithZone(_ text: String) -> Bool {
        var rest = text.utf8.dropFirst("yyyy-MM-ddTHH:mm:ss".utf8.count)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if let first = rest.first, ".,".utf8.contains(first) { rest = rest.dropFirst().drop(while: digits.contains) }
        guard let sign = rest.first else { return false }
        if "Zz".utf8.contains(sign) { return rest.count == 1 }
        let offset = rest.dropFirst().filter { $0 != UInt8(ascii: ":") }
        return "+-".utf8.contains(sign) && [2, 4].contains(offset.count) && offset.allSatisfy(digits.contains)
    }

    /// The encoding of dates in queries and forms; `nil` for that of the encoder.
    public var textEncoding: DateTextEncoding? {
        switch kind {
        case .iso8601: .iso8601
        case .seconds: .secondsSince1970
        case .milliseconds: .millisecondsSince1970
        case .formatted(let formatter):
            .custom { date in
                let offset = TimeInterval(formatter.timeZone?.secondsFromGMT(for: date) ?? 0)
                try DateTextEncoding.checkYear(of: date.addingTimeInterval(offset))
                return formatter.string(from: date)
            }
        case .ofCoder: nil
        }
    }

    /// The encoding of dates in JSON; `nil` for that of the encoder.
    public var jsonEncoding: JSONEncoder.DateEncodingStrategy? {
        switch kind {
        // Foundation's own writes another date where it has no text for one.
        case .iso8601, .formatted: textEncoding.map(Self.jsonEncoding)
        case .seconds: .secondsSince1970
        case .milliseconds:
            .custom { date, encoder in
                var container = encoder.singleValueContainer()
                let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
                if let whole = Int64(exactly: milliseconds) {
                    try container.encode(whole)
                } else {
                    try container.encode(milliseconds)
                }
            }
        case .ofCoder: nil
        }
    }

    private static func jsonEncoding(_ encoding: DateTextEncoding) -> JSONEncoder.DateEncodingStrategy {
        .custom { date, encoder in
            var container = encoder.singleValueContainer()
            do {
                try container.encode(encoding.text(for: date))
            } catch let refusal as ParameterTree.Refusal {
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "the value is \(refusal.what)"
                )
                throw EncodingError.invalidValue(date, context)
            }
        }
    }

    /// The decoding of dates in JSON; `nil` for that of the decoder.
    public var jsonDecoding: JSONDecoder.DateDecodingStrategy? {
        switch kind {
        case .iso8601:
            // Foundation's own refuses a fraction in its older versions.
            .custom { decoder in
                let container = try decoder.singleValueContainer()
                let text = try container.decode(String.self)
                let styles = [Self.wholeSeconds, Self.fractionalSeconds]
                guard Self.endsWithZone(text), let date = styles.lazy.compactMap({ try? $0.parse(text) }).first else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date of ISO 8601")
                }
                return date
            }
        case .seconds: .secondsSince1970
        case .milliseconds: .millisecondsSince1970
        case .formatted(let formatter): .formatted(formatter)
        case .ofCoder: nil
        }
    }
}
