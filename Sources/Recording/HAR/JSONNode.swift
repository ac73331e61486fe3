import Foundation

/// A JSON value that is written as it was read: members in order, numbers in their notation.
package indirect enum JSONNode: Sendable, Equatable {
    /// One member of an object.
    package struct Member: Sendable, Equatable {
        var name: String
        var value: JSONNode

        init(_ name: String, _ value: JSONNode) {
            self.name = name
            self.value = value
        }
    }

    case null
    case bool(Bool)
    /// The text of the number, such as `1.50`.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
}

extension JSONNode {
    /// Returns a number without a fraction.
    package static func integer(_ value: Int) -> JSONNode { .number(String(value)) }

    /// Returns a number of milliseconds, rounded to 3 decimals, without trailing zeros.
    ///
    /// At most 30 years in either direction.
    package static func milliseconds(_ duration: Duration) -> JSONNode {
        let limit = Duration.seconds(1_000_000_000)
        let (seconds, attoseconds) = min(max(duration, .zero - limit), limit).components
        let half: Int64 = attoseconds < 0 ? -500_000_000_000 : 500_000_000_000
        let total = seconds * 1_000_000 + (attoseconds + half) / 1_000_000_000_000
        let fraction = String(abs(total % 1_000) + 1_000).dropFirst()
        let digits = fraction.reversed().drop { $0 == "0" }.reversed()
        let sign = total < 0 ? "-" : ""
        return .number(sign + String(abs(total / 1_000)) + (digits.isEmpty ? "" : "." + String(digits)))
    }

    /// Returns an object of these members, except those that are `nil`.
    package static func object(_ members: KeyValuePairs<String, JSONNode?>) -> JSONNode {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A member of an object; `nil` if it is missing or `null`, or if the value is not an object.
    ///
    /// Setting `nil` removes the member. A new member is added at the end. If a name is repeated, the last member
    /// counts; RFC 8259 §4 leaves this open.
    package subscript(name: String) -> JSONNode? {
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

    /// The value of a finite number.
    var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The value of a number without its fraction.
    var int: Int? {
        if case .number(let text) = self, let value = Int(text) { return value }
        return double.flatMap { Int(exactly: $0.rounded(.towardZero)) }
    }
}
