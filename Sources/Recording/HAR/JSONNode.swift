import Foundation

/// A JSON value that comes out as it went in: members in their order, numbers as they were written.
indirect enum JSONNode: Sendable, Equatable {
    /// One member of an object.
    struct Member: Sendable, Equatable {
        var name: String
        var value: JSONNode

        init(_ name: String, _ value: JSONNode) {
            self.name = name
            self.value = value
        }
    }

    case null
    case bool(Bool)
    /// Its text, such as `1.50`.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
}

extension JSONNode {
    /// A number without a fraction.
    static func integer(_ value: Int) -> JSONNode { .number(String(value)) }

    /// A number of milliseconds, rounded to 3 decimals and without zeros at its end; at most 30 years in either direction.
    static func milliseconds(_ duration: Duration) -> JSONNode {
        let limit = Duration.seconds(1_000_000_000)
        let (seconds, attoseconds) = min(max(duration, .zero - limit), limit).components
        let half: Int64 = attoseconds < 0 ? -500_000_000_000 : 500_000_000_000
        let total = seconds * 1_000_000 + (attoseconds + half) / 1_000_000_000_000
        let fraction = String(abs(total % 1_000) + 1_000).dropFirst()
        let digits = fraction.reversed().drop { $0 == "0" }.reversed()
        let sign = total < 0 ? "-" : ""
        return .number(sign + String(abs(total / 1_000)) + (digits.isEmpty ? "" : "." + String(digits)))
    }

    /// An object of these members, without those that are `nil`.
    static func object(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A member of an object; `nil` when there is none, when it is `null`, and of what is no object.
    ///
    /// Setting `nil` removes the member; a new one comes last. Of members with one name the last counts, as RFC 8259 §4 leaves open.
    subscript(name: String) -> JSONNode? {
        get {
            guard case .object(let members) = self else { return nil }
            guard let value = members.last(where: { $0.name == name })?.value, value != .null else { return nil }
            return value
        }
        set {
            guard case .object(var members) = self else { return }
            if let index = members.lastIndex(where: { $0.name == name }) {
                if let newValue { members[index].value = newValue } else { members.remove(at: index) }
            } else if let newValue {
                members.append(Member(name, newValue))
            }
            self = .object(members)
        }
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var elements: [JSONNode] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }

    /// A number that is finite.
    var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// A number as a whole one, its fraction cut.
    var int: Int? {
        if case .number(let text) = self, let value = Int(text) { return value }
        return double.flatMap { Int(exactly: $0.rounded(.towardZero)) }
    }
}
