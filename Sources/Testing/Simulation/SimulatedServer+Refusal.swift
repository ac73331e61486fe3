import Foundation
import HTTPTypes

extension SimulatedServer {
    /// How a server that enforces its quota reports when to try again.
    public struct Refusal: Sendable, Hashable {
        private enum Form { case seconds, date, fields }

        private let form: Form

        /// Responds with 429 and Retry-After in whole seconds, rounded up.
        public static let retryAfterSeconds = Refusal(form: .seconds)

        /// Responds with 429, with Retry-After as a date and with a Date field, both by the server's clock.
        public static let retryAfterDate = Refusal(form: .date)

        /// Responds with 429, and adds RateLimit and RateLimit-Policy to every response.
        ///
        /// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/11/
        public static let rateLimitFields = Refusal(form: .fields)

        /// Adds the fields of a refusal.
        func mark(_ fields: inout HTTPFields, after wait: Duration, at date: Date) {
            switch form {
            case .seconds: fields[.retryAfter] = "\(wait.wholeSeconds)"
            case .date:
                let end = date.addingTimeInterval(wait / .seconds(1)).timeIntervalSince1970
                fields[.date] = Self.text(date.timeIntervalSince1970.rounded(.down))
                fields[.retryAfter] = Self.text(end.rounded(.up))
            case .fields: break
            }
        }

        /// Adds the fields of any response.
        func mark(
            _ fields: inout HTTPFields,
            _ remainder: SimulatedTraffic.Remainder?,
            of quota: Int,
            per window: Duration
        ) {
            guard form == .fields, let remainder else { return }
            let policy = "\"default\";q=\(quota);w=\(window.wholeSeconds)"
            let rest = "\"default\";r=\(remainder.count);t=\(remainder.time.wholeSeconds)"
            for (name, value) in [("RateLimit-Policy", policy), ("RateLimit", rest)] {
                if let name = HTTPField.Name(name) { fields[name] = value }
            }
        }

        /// Returns a date as RFC 9110 requires it, such as `Thu, 01 Jan 1970 00:00:00 GMT`.
        private static func text(_ secondsSince1970: Double) -> String {
            let style = Date.VerbatimFormatStyle(
                format: """
                    \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
                    \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                    \(second: .twoDigits) GMT
                    """,
                locale: Locale(identifier: "en_US_POSIX"),
                timeZone: .gmt,
                calendar: Calendar(identifier: .gregorian)
            )
            return Date(timeIntervalSince1970: secondsSince1970).formatted(style)
        }
    }
}

extension Duration {
    /// The seconds, rounded up.
    fileprivate var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
