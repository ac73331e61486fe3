import Foundation
import Pipeline

/// A body in a form in which what means the same is equal.
enum BodyValue {
    /// Brings a body into the form in which it is compared.
    ///
    /// - Parameters:
    ///   - body: the bytes.
    ///   - type: the value of Content-Type.
    ///   - form: how it is compared.
    ///   - isMeasured: whether the lengths of parts count, so that no two bodies have the same form.
    /// - Returns: the form; the bytes if they are not what the type says.
    static func value(
        of body: Data,
        type: String?,
        _ form: RequestMatching.BodyForm,
        isMeasured: Bool = true
    ) -> Data {
        guard !body.isEmpty else { return body }
        let media = MediaType(type ?? "")
        let value: Data? =
            switch form {
            case .bytes: nil
            case .json: json(body)
            case .form: self.form(body)
            case .multipart: multipart(body, type, isMeasured)
            case .automatic where media.isJSON: json(body)
            case .automatic where media.essence == "application/x-www-form-urlencoded": self.form(body)
            case .automatic where media.essence.hasPrefix("multipart/"): multipart(body, type, isMeasured)
            case .automatic: nil
            }
        return value ?? body
    }

    /// Whether a body is compared as the pairs of a form.
    static func isForm(_ type: String?, _ form: RequestMatching.BodyForm) -> Bool {
        switch form {
        case .form: true
        case .automatic: MediaType(type ?? "").essence == "application/x-www-form-urlencoded"
        case .bytes, .json, .multipart: false
        }
    }

    private static func json(_ body: Data) -> Data? {
        (try? JSONParser.parse(body)).map { canonical($0).data() }
    }

    private static func canonical(_ node: JSONNode) -> JSONNode {
        switch node {
        case .array(let elements): .array(elements.map(canonical))
        case .object(let members):
            // Names may repeat, in which case their order counts: the sort is stable.
            .object(members.map { .init($0.name, canonical($0.value)) }.sorted { $0.name < $1.name })
        case .number(let text): .number(number(text))
        default: node
        }
    }

    /// Whole numbers exactly; others as they are read.
    private static func number(_ text: String) -> String {
        if let value = Int(text) { return String(value) }
        guard let value = Double(text), value.isFinite,
            abs(value) < 0x1p53 || text.contains(where: { ".eE".contains($0) })
        else { return text }
        return Int(exactly: value).map { String($0) } ?? "\(value)"
    }

    private static func form(_ body: Data) -> Data? {
        guard let text = String(validating: body, as: UTF8.self) else { return nil }
        let items = URLParts.items(text.utf8[...]).sorted()
        return Data(items.map { "\($0.name)=\($0.value)" }.joined(separator: "&").utf8)
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
