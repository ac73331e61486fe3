public import Foundation

/// How a date becomes text where the format has no dates of its own.
public struct DateTextEncoding: Sendable {
    private enum Kind: Sendable {
        case iso8601
        case secondsSince1970
        case millisecondsSince1970
        case custom(@Sendable (Date) throws -> String)
    }

    private let kind: Kind

    /// `2001-09-09T01:46:40Z`.
    public static let iso8601 = DateTextEncoding(kind: .iso8601)

    /// Seconds since 1970, with a fraction only when there is one.
    public static let secondsSince1970 = DateTextEncoding(kind: .secondsSince1970)

    /// Whole milliseconds since 1970, rounded.
    public static let millisecondsSince1970 = DateTextEncoding(kind: .millisecondsSince1970)

    /// Text of your own.
    public static func custom(_ makeText: @escaping @Sendable (Date) throws -> String) -> DateTextEncoding {
        DateTextEncoding(kind: .custom(makeText))
    }

    /// The text of a date.
    func text(for date: Date) throws -> String {
        switch kind {
        case .iso8601: date.formatted(.iso8601)
        case .secondsSince1970: ParameterTree.text(of: date.timeIntervalSince1970)
        case .millisecondsSince1970: ParameterTree.text(of: (date.timeIntervalSince1970 * 1000).rounded())
        case .custom(let makeText): try makeText(date)
        }
    }
}
