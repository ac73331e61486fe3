/// The request as httpbin received it.
struct Echo: Decodable {
    let method: String
    let url: String
    let args: [String: Values]
    let form: [String: Values]
    let files: [String: Values]
    let data: String
    let headers: [String: String]

    /// The values of a name: httpbin writes one value as text and several as an array.
    struct Values: Decodable, Equatable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        let texts: [String]

        init(stringLiteral text: String) { texts = [text] }

        init(arrayLiteral texts: String...) { self.texts = texts }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                texts = [text]
            } else {
                texts = try container.decode([String].self)
            }
        }
    }
}
