import Foundation

extension ParameterTree {
    /// Calls a closure with the name and the value of each leaf, in the order in which a form lists them.
    func forEachLeaf(_ arrays: URLEncoding.ArrayEncoding, _ body: (_ name: String, _ leaf: ParameterTree) -> Void) {
        guard case .object(let members) = self else { return }
        for member in members { member.value.forEachLeaf(named: member.key, arrays, body) }
    }

    private func forEachLeaf(
        named name: String,
        _ arrays: URLEncoding.ArrayEncoding,
        _ body: (_ name: String, _ leaf: ParameterTree) -> Void
    ) {
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                element.forEachLeaf(named: arrays.name(name, index), arrays, body)
            }
        case .object(let members):
            for member in members { member.value.forEachLeaf(named: "\(name)[\(member.key)]", arrays, body) }
        default: body(name, self)
        }
    }

    /// Returns the members as percent-encoded `name=value` pairs, in order; ``null`` and empty collections add nothing.
    func formText(arrays: URLEncoding.ArrayEncoding, booleans: URLEncoding.BoolEncoding) -> String {
        var text = ""
        forEachLeaf(arrays) { name, leaf in
            guard let value = leaf.leafText(booleans: booleans) else { return }
            if !text.isEmpty { text += "&" }
            PercentEncoding.appendFormValue(name, to: &text)
            text += "="
            PercentEncoding.appendFormValue(value, to: &text)
        }
        return text
    }

    /// Returns the text of a leaf; `nil` for any other value and for ``null``.
    func leafText(booleans: URLEncoding.BoolEncoding) -> String? {
        switch self {
        case .bool(let value): value ? booleans.trueText : booleans.falseText
        case .number(let value): "\(value)"
        case .double(let value): Self.text(of: value)
        case .string(let value): value
        case .date(let value): value.formatted(.iso8601)
        case .data(let value): value.base64EncodedString()
        case .null, .file, .array, .object: nil
        }
    }

    /// Returns the text of a double, without the `.0` of a whole number, identical on every platform.
    static func text(of value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
