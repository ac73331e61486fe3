public import Foundation

extension DateCodingStrategy {
    /// An encoding of dates as text, for formats that have no date type.
    public struct TextEncoding: Sendable {
        /// Returns the text of a date.
        let text: @Sendable (Date) throws -> String

        /// ISO 8601 text such as `2001-09-09T01:46:40Z`; dates outside the years 1 to 9999 cannot be encoded.
        public static let iso8601 = DateCodingStrategy.TextEncoding { date in
            try checkYear(of: date)
            return date.formatted(.iso8601)
        }

        /// ISO 8601 text with milliseconds, such as `2001-09-09T01:46:40.000Z`, for the same dates.
        static let iso8601Milliseconds = DateCodingStrategy.TextEncoding { date in
            try checkYear(of: date)
            return Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(date)
        }

        /// Seconds since 1970, with a fraction only if there is one.
        public static let secondsSince1970 = DateCodingStrategy.TextEncoding {
            ParameterTree.text(of: $0.timeIntervalSince1970)
        }

        /// Whole milliseconds since 1970, rounded.
        public static let millisecondsSince1970 = DateCodingStrategy.TextEncoding { date in
            let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
            guard milliseconds.isFinite else { throw ParameterTree.Refusal("not a finite date") }
            return ParameterTree.text(of: milliseconds)
        }

        /// Returns an encoding that calls a closure for the text of each date.
        public static func custom(
            _ makeText: @escaping @Sendable (Date) throws -> String
        ) -> DateCodingStrategy.TextEncoding {
            DateCodingStrategy.TextEncoding(text: makeText)
        }

        /// Throws if calendars cannot represent the date: they would write a different one, or nothing.
        static func checkYear(of date: Date) throws {
            let endOfYear9999 = Date(timeIntervalSince1970: 253_402_300_800)
            // Also false for NaN.
            guard (Date.distantPast..<endOfYear9999).contains(date) else {
                throw ParameterTree.Refusal("not a date of the years 1 to 9999")
            }
        }
    }
}
