import Foundation
import Pipeline
import PipelineSigning

/// Makes random requests, and random components that they have.
struct RandomMessages {
    private var random: PipelineRandom

    init(seed: UInt64) { random = .seeded(seed) }

    mutating func makeRequest() throws -> (request: PipelineRequest, components: [SignatureComponent]) {
        let names = ["a", "Pet", "a b", "façade", "x+y", "*", "~"].filter { _ in Bool.random(using: &random) }
        let pairs = names.map { "\(encoded($0))=\(encoded(makeText()))" }
        var path = "/" + encoded(makeText())
        if !pairs.isEmpty || Bool.random(using: &random) { path += "?" + pairs.joined(separator: "&") }
        let fields = [
            ("X-Text", makeText()), ("Accept", "*/*"), ("Accept", "text/html;q=0.5,  text/plain"),
            ("X-Spaced", "  a \(makeText())b \t"), ("Priority", "u=1,   i"), ("X-Empty", ""),
            ("X-Dict", #"a=1,  b=2;x;y=2, c=(a   b;z=1), d, e=:AQID:, f="q\"r", g=1.50"#),
        ].shuffled(using: &random)
        let head = HTTPRequest(
            method: [.get, .post, .put, .delete, .patch].randomElement(using: &random) ?? .get,
            scheme: ["https", "http"].randomElement(using: &random),
            authority: ["a.test", "A.Test", "a.test:443", "a.test:80", "[::1]:8443"].randomElement(using: &random),
            path: path,
            headerFields: SignatureVectors.headers(fields)
        )
        let bytes = Data((0..<Int.random(in: 0...200, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
        return (PipelineRequest(head: head, body: .bytes(bytes)), components(names))
    }

    mutating func isTrue() -> Bool { Bool.random(using: &random) }

    private mutating func components(_ names: [String]) -> [SignatureComponent] {
        var all: [SignatureComponent] = [.method, .targetURI, .authority, .scheme, .requestTarget, .path, .query]
        all += names.map { .queryParameter($0) }
        for name in ["X-Text", "Accept", "X-Spaced", "Priority", "X-Empty", "X-Dict"].compactMap({ HTTPField.Name($0) })
        {
            all += [.field(name), .field(name, .binary)]
        }
        if let name = HTTPField.Name("X-Dict") { all += "abcdefg".map { .field(name, .member(String($0))) } }
        if let name = HTTPField.Name("Priority") { all += [.field(name, .structured), .field(name, .member("i"))] }
        all += [.field(.accept, .structured), .contentDigest]
        return Array(all.shuffled(using: &random).prefix(Int.random(in: 1...12, using: &random)))
    }

    private mutating func makeText() -> String {
        let characters = Array(#"abcXYZ019-._~!*'();:@&=+$,/?#[]%"\<>^`{|}"#)
        return String(
            (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                characters.randomElement(using: &random)
            }
        )
    }

    private static let plain = CharacterSet(charactersIn: "abcXYZ019-._~*")

    private func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? ""
    }
}
