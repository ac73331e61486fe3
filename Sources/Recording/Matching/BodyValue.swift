import Foundation
import PipelineCore

/// The form in which bodies are compared: bodies with the same meaning are equal.
enum BodyValue {
    /// Converts a body to the form in which it is compared.
    ///
    /// - Parameters:
    ///   - body: the bytes.
    ///   - type: the value of Content-Type.
    ///   - form: how the body is compared.
    ///   - names: the names of JSON members and form pairs that are left out.
    ///   - isMeasured: whether the lengths of parts are included, so that different bodies never have the same form.
    /// - Returns: the form; the bytes if they do not match the type.
    static func value(
        of body: Data,
        type: String?,
        _ form: RequestMatching.BodyForm,
        ignoring names: Set<String>,
        isMeasured: Bool = true
    ) -> Data {
        guard !body.isEmpty else { return body }
        let value: Data? =
            switch self.form(form, of: type) {
            case .json: json(body, ignoring: names, isSorted: true)?.data()
            case .form: pairs(body, ignoring: names)
            case .multipart: multipart(body, type, isMeasured)
            case .bytes, .automatic: nil
            }
        return value ?? body
    }

    /// Returns the form in which a body of a type is compared, which is never `automatic`.
    static func form(_ form: RequestMatching.BodyForm, of type: String?) -> RequestMatching.BodyForm {
        guard form == .automatic else { return form }
        let media = MediaType(type ?? "")
        if media.isJSON { return .json }
        if media.essence == "application/x-www-form-urlencoded" { return .form }
        return media.essence.hasPrefix("multipart/") ? .multipart : .bytes
    }

    /// Returns a JSON body as it is compared, or `nil` if it is not JSON.
    static func json(_ body: Data, ignoring names: Set<String>, isSorted: Bool) -> JSONNode? {
        func canonical(_ node: JSONNode) -> JSONNode {
            switch node {
            case .array(let elements): return .array(elements.map(canonical))
            case .object(let members):
                let compared = members.filter { !names.contains($0.name) }.map {
                    JSONNode.Member($0.name, canonical($0.value))
                }
                // If names repeat, their order counts, because the sort is stable.
                return .object(isSorted ? compared.sorted { $0.name < $1.name } : compared)
            case .number(let text): return .number(number(text))
            default: return node
            }
        }
        return (try? JSONParser.parse(body)).map(canonical)
    }

    /// Compares whole numbers exactly, and others by their parsed value.
    private static func number(_ text: String) -> String {
        if let value = Int(text) { return String(value) }
        guard let value = Double(text), value.isFinite,
            abs(value) < 0x1p53 || text.contains(where: { ".eE".contains($0) })
        else { return text }
        return Int(exactly: value).map { String($0) } ?? "\(value)"
    }

    private static func pairs(_ body: Data, ignoring names: Set<String>) -> Data? {
        guard let text = String(validating: body, as: UTF8.self) else { return nil }
        let items = URLParts.removing(names, from: URLParts.items(text.utf8[...])).sorted()
        return Data(items.map(\.text).joined(separator: "&").utf8)
    }

    /// A part of a multipart body, without the rest of its head.
    struct Part {
        var name: String
        var isFile: Bool
        var content: Data
    }

    /// Returns the parts of a multipart body in the order of their names, or `nil` for a body in another form.
    static func parts(of body: Data, type: String?, _ form: RequestMatching.BodyForm) -> [Part]? {
        guard !body.isEmpty, self.form(form, of: type) == .multipart, let boundary = Multipart.boundary(in: type ?? "")
        else { return nil }
        let parts = Multipart(body, boundary: boundary).parts.map {
            Part(name: $0.name ?? "", isFile: $0.isFile, content: Data(body[$0.content]))
        }
        return parts.isEmpty ? nil : parts.sorted { $0.name < $1.name }
    }

    private static func multipart(_ body: Data, _ type: String?, _ isMeasured: Bool) -> Data? {
        guard let boundary = Multipart.boundary(in: type ?? "") else { return nil }
        let parts = Multipart(body, boundary: boundary).parts
        guard !parts.isEmpty else { return nil }
        return parts.reduce(into: Data()) { result, part in
            let lengths = isMeasured ? "\(part.head.count):\(part.content.count):" : "\n"
            result += Data(lengths.utf8) + part.head + Data((isMeasured ? "" : "\n").utf8) + body[part.content]
        }
    }
}
