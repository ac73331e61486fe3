import HTTPTypes
import RawStructuredFieldValues

/// What the header fields RateLimit and RateLimit-Policy say about the next request.
///
/// Source: draft-ietf-httpapi-ratelimit-headers-11,
/// https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11
enum QuotaFields {
    /// Returns the time until a used-up quota is available again; `nil` if none is used up, or if the time is unknown.
    ///
    /// A malformed field is ignored. If a used-up quota has no `t`, the window of its policy applies. A quota of
    /// concurrent requests is ignored, because time does not restore it.
    static func wait(in fields: HTTPFields) -> Duration? {
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
            guard case .string(let name) = item.rfc9651BareItem, case .integer(let first) = parameters[required],
                first >= 0
            else { return nil }
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
