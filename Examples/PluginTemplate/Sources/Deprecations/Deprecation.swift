public import Foundation
public import PipelineCore

/// An announcement that a server will change or remove a resource.
///
/// Sources: RFC 9745, https://www.rfc-editor.org/rfc/rfc9745.html, and RFC 8594,
/// https://www.rfc-editor.org/rfc/rfc8594.html
public struct Deprecation: Sendable, Hashable {
    /// The origin and the path of the resource, without the query.
    public let resource: String
    /// When the resource is or was deprecated; `nil` if the server does not give a date.
    public let date: Date?
    /// When the resource is expected to become unresponsive; `nil` if the server does not give a date.
    public let sunset: Date?

    /// Reads the fields `Deprecation` and `Sunset` of a response.
    ///
    /// Returns `nil` if the response has neither field, or only a `Sunset` without a valid date. A `Deprecation`
    /// without a valid date, such as the `true` of early drafts, is an announcement without a date.
    public init?(_ response: PipelineResponse) {
        let deprecation = response.header("Deprecation")
        let sunset = response.header("Sunset").flatMap { HTTPDate(fixdate: $0)?.date }
        guard deprecation != nil || sunset != nil else { return nil }
        resource = "\(response.request.origin)\(response.request.path)"
        date = deprecation.flatMap(Self.date(of:))
        self.sunset = sunset
    }

    /// Parses a date of a structured field, the seconds since 1970 after `@`, and ignores parameters.
    private static func date(of text: String) -> Date? {
        let item = text.prefix { $0 != ";" }
        guard item.first == "@", item.count <= 16, let seconds = Int(item.dropFirst()) else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}
