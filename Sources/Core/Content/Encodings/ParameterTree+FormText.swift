import Foundation

extension ParameterTree {
    /// Returns the members as percent-encoded `name=value` pairs, in order; ``null`` and empty collections add nothing.
    func formText(arrays: URLEncoding.ArrayEncoding, booleans: URLEncoding.BoolEncoding) -> String {
        guard case .object(let members) = self else { return "" }
        var form = FormText(arrays: arrays, booleans: booleans)
        for member in members { form.append(member.key, member.value) }
        return form.text
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

/// The pairs of a form while it is built.
private struct FormText {
    let arrays: URLEncoding.ArrayEncoding
    let booleans: URLEncoding.BoolEncoding
    var text = ""

    init(arrays: URLEncoding.ArrayEncoding, booleans: URLEncoding.BoolEncoding) {
        self.arrays = arrays
        self.booleans = booleans
    }

    mutating func append(_ name: String, _ tree: ParameterTree) {
        switch tree {
        case .array(let elements):
            for (index, element) in elements.enumerated() { append(arrays.name(name, index), element) }
        case .object(let members):
            for member in members { append("\(name)[\(member.key)]", member.value) }
        default:
            if let text = tree.leafText(booleans: booleans) { appendPair(name, text) }
        }
    }

    private mutating func appendPair(_ name: String, _ value: String) {
        if !text.isEmpty { text += "&" }
        PercentEncoding.appendFormValue(name, to: &text)
        text += "="
        PercentEncoding.appendFormValue(value, to: &text)
    }
}
