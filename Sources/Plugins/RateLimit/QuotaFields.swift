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
        var waits: [Duration?] = []
        if signals.contains(.rateLimit) {
            waits += [listed(in: fields), inDictionary(fields), separate("RateLimit-", in: fields, now: now)]
        }
        if signals.contains(.xRateLimit) {
            waits += ["X-RateLimit-", "X-Rate-Limit-"].map { separate($0, in: fields, now: now) }
        }
        return waits.compactMap(\.self).max()
    }

    /// `limit=100, remaining=0, reset=50` of draft 07.
    private static func inDictionary(_ fields: HTTPFields) -> Duration? {
        guard let text = value(of: .rateLimit, in: fields) else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        func number(_ key: String) -> Int64? {
            guard case .item(let item)? = members[key], case .integer(let number) = item.rfc9651BareItem else {
                return nil
            }
            return number
        }
        guard number("remaining") == 0, let reset = number("reset"), reset >= 0 else { return nil }
        return .seconds(reset)
    }

    /// Two fields with numbers, of which the second may be a moment.
    private static func separate(_ prefix: String, in fields: HTTPFields, now: Date) -> Duration? {
        func number(_ name: String) -> Double? {
            let text = value(of: HTTPField.Name(prefix + name), in: fields)?.trimmingCharacters(in: .whitespaces)
            return text.flatMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } ? Double($0) : nil }
        }
        guard number("Remaining") == 0, let reset = number("Reset"), reset.isFinite else { return nil }
        let seconds = reset > 1_000_000_000 ? reset - now.timeIntervalSince1970 : reset
        return .seconds(min(max(0, seconds), 1e15))
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

    private static func value(of name: HTTPField.Name?, in fields: HTTPFields) -> String? {
        name.flatMap { fields[$0] }
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
            let name: String
            switch item.rfc9651BareItem {
            case .string(let text), .token(let text): name = text
            default: return nil
            }
            guard case .integer(let first) = parameters[required], first >= 0 else { return nil }
            var second: Int64?
            switch parameters[optional] {
            case nil: break
            case .integer(let number) where number >= 0: second = number
            default: return nil
            }
            var unit: String?
            switch parameters["qu"] {
            case nil: break
            case .string(let text): unit = text
            default: return nil
            }
            switch parameters["pk"] {
            case nil, .undecodedByteSequence: break
            default: return nil
            }
            items.append(Item(name: name, required: first, optional: second, unit: unit))
        }
        return items.count == members.count ? items : nil
    }
}

extension HTTPField.Name {
    /// Both are never `nil`, because the names are valid.
    fileprivate static let rateLimit = HTTPField.Name("RateLimit")
    fileprivate static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy")
}
