import Foundation
import HTTPTypes
import RawStructuredFieldValues

/// What the header fields about quotas say about the next request.
///
/// Source: draft-ietf-httpapi-ratelimit-headers-11,
/// https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11; draft 07 for the dictionary, and
/// draft 06 for the separate fields
enum QuotaFields {
    /// Returns the time until a used-up quota is available again; `nil` if none is used up, or if the time is unknown.
    ///
    /// A malformed field is ignored. If a used-up quota has no `t`, the window of its policy applies. A quota of
    /// concurrent requests is ignored, because time does not restore it.
    static func wait(in fields: HTTPFields, _ signals: RateLimitPlugin.Signals, now: Date) -> Duration? {
        var longest: Duration?
        func note(_ wait: Duration?) {
            if let wait { longest = max(longest ?? .zero, wait) }
        }
        if signals.contains(.rateLimit) {
            if let name = HTTPField.Name.rateLimit, fields.contains(name) {
                note(listed(in: fields))
                note(inDictionary(fields))
            }
            note(separate(rateLimitNames, in: fields, now: now))
        }
        if signals.contains(.xRateLimit) {
            for names in xRateLimitNames { note(separate(names, in: fields, now: now)) }
        }
        return longest
    }

    private typealias Names = (remaining: HTTPField.Name, reset: HTTPField.Name)

    private static let rateLimitNames = names("RateLimit-")
    private static let xRateLimitNames = [names("X-RateLimit-"), names("X-Rate-Limit-")]

    private static func names(_ prefix: String) -> Names? {
        guard let remaining = HTTPField.Name(prefix + "Remaining"), let reset = HTTPField.Name(prefix + "Reset") else {
            return nil
        }
        return (remaining, reset)
    }

    /// `limit=100, remaining=0, reset=50` of draft 07.
    private static func inDictionary(_ fields: HTTPFields) -> Duration? {
        guard let text = value(of: .rateLimit, in: fields) else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        func number(_ key: String) -> Int64? {
            guard case .item(let item)? = members[key] else { return nil }
            return count(item.rfc9651BareItem)
        }
        guard number("remaining") == 0, let reset = number("reset") else { return nil }
        return .seconds(reset)
    }

    /// Returns an integer of zero and up; `nil` for anything else.
    private static func count(_ item: RFC9651BareItem?) -> Int64? {
        if case .integer(let number) = item, number >= 0 { number } else { nil }
    }

    /// Two fields with numbers, of which the second may be a moment.
    private static func separate(_ names: Names?, in fields: HTTPFields, now: Date) -> Duration? {
        guard let names, let remaining = fields[names.remaining], number(remaining) == 0,
            let reset = fields[names.reset].flatMap(number), reset.isFinite
        else { return nil }
        let seconds = reset > 1_000_000_000 ? reset - now.timeIntervalSince1970 : reset
        return .seconds(min(max(0, seconds), 1e15))
    }

    private static func number(_ text: String) -> Double? {
        let text = text.trimmingCharacters(in: .whitespaces)
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } ? Double(text) : nil
    }

    /// The list of items since draft 08.
    private static func listed(in fields: HTTPFields) -> Duration? {
        guard let text = value(of: .rateLimit, in: fields), let limits = items(in: text, required: "r", optional: "t")
        else {
            return nil
        }
        let empty = limits.filter { $0.required == 0 }
        guard !empty.isEmpty else { return nil }
        let policy = value(of: .rateLimitPolicy, in: fields)
        let policies = policy.flatMap { items(in: $0, required: "q", optional: "w") } ?? []
        let waits = empty.compactMap { limit -> Int64? in
            let policy = policies.first { $0.name == limit.name }
            guard policy?.unit != "concurrent-requests" else { return nil }
            return limit.optional ?? policy?.optional
        }
        return waits.max().map { .seconds($0) }
    }

    /// Returns the value of a field; `nil` if it is absent or longer than 1 KiB.
    ///
    /// The time that the parser takes grows with the square of the number of members.
    private static func value(of name: HTTPField.Name?, in fields: HTTPFields) -> String? {
        name.flatMap { fields[$0] }.flatMap { $0.utf8.count <= 1_024 ? $0 : nil }
    }

    private struct Item {
        let name: String
        let required: Int64
        let optional: Int64?
        let unit: String?
    }

    /// Parses a list of strings with integer parameters; `nil` if anything is malformed.
    private static func items(in value: String, required: String, optional: String) -> [Item]? {
        var parser = StructuredFieldValueParser(Array(value.utf8))
        guard let members = try? parser.parseListFieldValue() else { return nil }
        var items: [Item] = []
        for case .item(let item) in members {
            let parameters = item.rfc9651Parameters
            let (second, unit) = (parameters[optional], parameters["qu"])
            guard let name = item.rfc9651BareItem.text(orToken: true), let first = count(parameters[required]),
                second == nil || count(second) != nil, unit == nil || unit?.text(orToken: false) != nil
            else { return nil }
            switch parameters["pk"] {
            case nil, .undecodedByteSequence: break
            default: return nil
            }
            items.append(
                Item(name: name, required: first, optional: count(second), unit: unit?.text(orToken: false))
            )
        }
        return items.count == members.count ? items : nil
    }
}

extension HTTPField.Name {
    /// Both are never `nil`, because the names are valid.
    fileprivate static let rateLimit = HTTPField.Name("RateLimit")
    fileprivate static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy")
}

extension RFC9651BareItem {
    /// The text of a string or, if that is allowed, of a token.
    fileprivate func text(orToken allowsToken: Bool) -> String? {
        switch self {
        case .string(let text): text
        case .token(let text) where allowsToken: text
        default: nil
        }
    }
}
