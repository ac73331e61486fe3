import Foundation
import PipelineCore
import PipelineHashes

/// The page of the inspector: one document with everything that it needs.
enum InspectorPage {
    /// Returns the page for a HAR document.
    static func html(_ document: Data) -> Data {
        var page = Data()
        page.append(contentsOf: start)
        page.append(escaped(document))
        page.append(contentsOf: end)
        return page
    }

    /// The policy of the page as a header field, with a directive that an element in the page cannot set.
    static let policyField = policy + "; frame-ancestors 'none'"

    /// The policy: only the style and the script of the page, and no connection but to its own server.
    private static let policy = [
        "default-src 'none'", "script-src '\(hash(script))'", "style-src '\(hash(style))'", "img-src data: blob:",
        "connect-src 'self'", "form-action 'none'", "base-uri 'none'",
    ].joined(separator: "; ")

    private static let script = compact(PackageResources.inspector_js)
    private static let style = compact(PackageResources.inspector_css)

    /// Returns a source without indentation, empty lines and lines of comments, which each page would repeat.
    private static func compact(_ source: [UInt8]) -> [UInt8] {
        let lines = source.split(separator: UInt8(ascii: "\n")).map { $0.drop { $0 == UInt8(ascii: " ") } }
        return Array(lines.filter { !$0.starts(with: "//".utf8) }.joined(separator: "\n".utf8))
    }

    /// The page before and after the document.
    private static let (start, end) = parts()

    /// Splits the template at its places, in their order, because what is inserted may contain the text of a place.
    private static func parts() -> ([UInt8], [UInt8]) {
        let policy = Array(#"<meta http-equiv="Content-Security-Policy" content="\#(policy)">"#.utf8)
        var rest = PackageResources.inspector_html[...]
        func next(before place: String) -> ArraySlice<UInt8> {
            guard let range = rest.firstRange(of: place.utf8) else { return [] }
            defer { rest = rest[range.upperBound...] }
            return rest[..<range.lowerBound]
        }
        let start =
            next(before: "<!--CSP-->") + policy + next(before: "<!--STYLE-->") + style + next(before: "/*DATA*/")
        let end = next(before: "/*SCRIPT*/") + script + rest
        return (Array(start), Array(end))
    }

    private static func hash(_ bytes: [UInt8]) -> String { "sha256-" + Data(SHA256.hash(bytes)).base64EncodedString() }

    /// Returns JSON that no HTML parser takes for markup.
    ///
    /// Outside of its strings, JSON has none of these characters.
    private static func escaped(_ json: Data) -> Data {
        var result = Data(capacity: json.count + json.count / 16)
        for byte in json {
            switch byte {
            case UInt8(ascii: "<"): result.append(contentsOf: #"\u003c"#.utf8)
            case UInt8(ascii: ">"): result.append(contentsOf: #"\u003e"#.utf8)
            case UInt8(ascii: "&"): result.append(contentsOf: #"\u0026"#.utf8)
            default: result.append(byte)
            }
        }
        return result
    }
}
