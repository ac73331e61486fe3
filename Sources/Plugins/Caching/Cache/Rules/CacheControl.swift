import HTTPTypes
import RawStructuredFieldValues

/// The directives of Cache-Control, or of a targeted field that replaces it.
///
/// Durations are seconds, at most 2^31. Of conflicting directives, the most restrictive one counts; a lifetime that is
/// invalid or occurs with different values is zero, so the response is stale.
///
/// Source: RFC 9111 §4.2.1 and §5.2, https://www.rfc-editor.org/rfc/rfc9111.html#section-5.2
struct CacheControl: Sendable, Equatable {
    /// What `no-cache` or `private` applies to.
    enum FieldScope: Sendable, Equatable {
        /// The whole response.
        case all
        /// Some of its fields.
        case fields([HTTPField.Name])

        /// The fields; empty for the whole response.
        var names: [HTTPField.Name] {
            switch self {
            case .all: []
            case .fields(let names): names
            }
        }
    }

    /// The largest number of seconds (RFC 9111 §1.2.2).
    static let maximumSeconds = 1 << 31

    var noStore = false
    var mustUnderstand = false
    var mustRevalidate = false
    var proxyRevalidate = false
    var isPublic = false
    var immutable = false
    var onlyIfCached = false
    var noTransform = false
    var noCache: FieldScope?
    var isPrivate: FieldScope?
    var maxAge: Int?
    var sharedMaxAge: Int?
    var staleWhileRevalidate: Int?
    var staleIfError: Int?
    var minFresh: Int?
    /// `Int.max` if the directive has no value.
    var maxStale: Int?
    /// Whether the directives come from a targeted field, so Expires does not apply.
    private(set) var isTargeted = false

    /// Creates directives without any.
    init() {}

    /// Parses all lines of the field.
    init(_ fieldLines: [String]) {
        for line in fieldLines { parse(line) }
    }

    /// Parses all lines of a targeted field; returns `nil` if it is absent, empty, longer than 1 KiB, or not a valid
    /// dictionary.
    ///
    /// Source: RFC 9213 §2.1, https://www.rfc-editor.org/rfc/rfc9213.html#section-2.1
    init?(targeted fieldLines: [String]) {
        let text = Array(fieldLines.joined(separator: ",").utf8)
        // The time that the parser takes grows with the square of the number of directives.
        guard !text.isEmpty, text.count <= 1_024 else { return nil }
        var parser = StructuredFieldValueParser(text)
        guard let members = try? parser.parseDictionaryFieldValue(), !members.isEmpty else { return nil }
        for (name, member) in members {
            guard case .item(let item) = member else {
                apply(name, .invalid)
                continue
            }
            switch item.rfc9651BareItem {
            case .bool(false): break
            case .bool(true): apply(name, .none)
            case .integer(let number): apply(name, .text(String(number)))
            // A string is a list of field names, never a number.
            case .string(let list) where name == "no-cache" || name == "private": apply(name, .text(list))
            default: apply(name, .invalid)
            }
        }
        isTargeted = true
    }
}
