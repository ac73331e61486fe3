import Foundation
import Pipeline

/// A body in a form in which what means the same is equal.
enum BodyValue {
    static func value(of body: Data, type: String?, _ form: RequestMatching.BodyForm) -> Data {
        guard !body.isEmpty else { return body }
        let media = MediaType(type ?? "")
        let value: Data? =
            switch form.kind {
            case .bytes: nil
            case .json: json(body)
            case .form: self.form(body)
            case .multipart: multipart(body, type)
            case .automatic where media.isJSON: json(body)
            case .automatic where media.essence == "application/x-www-form-urlencoded": self.form(body)
            case .automatic where media.essence.hasPrefix("multipart/"): multipart(body, type)
            case .automatic: nil
            }
        return value ?? body
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

    private static func multipart(_ body: Data, _ type: String?) -> Data? {
        guard let boundary = Multipart.boundary(in: type ?? "") else { return nil }
        let parts = Multipart(body, boundary: boundary).parts
        guard !parts.isEmpty else { return nil }
        return parts.reduce(into: Data()) { result, part in
            result += Data("\(part.head.count):\(part.content.count):".utf8) + part.head + body[part.content]
        }
    }
}
