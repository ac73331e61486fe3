import Foundation
import HTTPTypes
import PipelineCore

extension HAREntry {
    /// Returns the body of the request, or `nil` if there was none.
    func requestBody(_ headers: HTTPFields, _ directory: URL?) throws -> Data? {
        let request = json["request"]
        guard let data = request?["postData"] else { return nil }
        if let file = data["_file"]?.string { return try HARSideFiles.contents(of: file, in: directory) }
        let params = data["params"]?.elements ?? []
        // Some writers add an empty text to the parameters.
        guard let text = data["text"]?.string, !text.isEmpty || params.isEmpty else { return Self.form(params) }
        // Some writers add an empty body to every request.
        if text.isEmpty, method == "GET" || method == "HEAD" { return nil }
        let encodings = [data["_encoding"], data["encoding"]].map { $0?.string?.lowercased() }
        if encodings.contains("base64") { return try Self.base64(text, "request.postData.text") }
        if encodings.contains("hex") { return try Self.hex(text, "request.postData.text") }
        let utf8 = Data(text.utf8)
        let sizes = [request?["bodySize"]?.int, headers[.contentLength].flatMap { Int($0) }]
        guard !sizes.contains(utf8.count), let latin1 = text.data(using: .isoLatin1), sizes.contains(latin1.count)
        else {
            return utf8
        }
        return latin1
    }

    /// Returns the body of the response, and whether it is still in its content coding.
    func responseBody(_ headers: HTTPFields, _ directory: URL?) throws -> (Data, isCoded: Bool) {
        guard let content = json["response"]?["content"] else { return (Data(), false) }
        let isCoded = content["_coded"] == .bool(true)
        if let file = content["_file"]?.string { return (try HARSideFiles.contents(of: file, in: directory), isCoded) }
        guard let text = content["text"]?.string, !text.isEmpty else { return (Data(), isCoded) }
        let encoding = content["encoding"]?.string?.lowercased()
        let isBase64 = encoding == "base64"
        let isBinary = content["_isBinary"] == .bool(true)
        if text.utf8.first == UInt8(ascii: "[") {
            if isBase64 || isBinary {
                return (try Self.pieces(text, isBase64: isBase64), headers.contains(.contentEncoding))
            }
            if encoding == nil, let pieces = Self.unmarkedPieces(text, headers) { return (pieces, true) }
        }
        if encoding == "hex" || isBinary && encoding == nil {
            return (try Self.hex(text, "response.content.text"), isCoded)
        }
        if isBase64 { return (try Self.base64(text, "response.content.text"), isCoded) }
        let types = [headers[.contentType], content["mimeType"]?.string]
        let charset = types.lazy.compactMap { MediaType($0 ?? "").charset }.first
        return (Self.bytes(of: text, charset: charset), isCoded)
    }

    /// Reads unmarked bodies of the oldest Polly.JS versions: pieces in base 16 of a body in its content coding.
    ///
    /// - Returns: the body, or `nil` if it is not in the coding that its header fields name.
    private static func unmarkedPieces(_ text: String, _ headers: HTTPFields) -> Data? {
        guard headers.contains(.contentEncoding), let body = try? pieces(text, isBase64: false),
            (try? CodedBody.decode(body, headers, upTo: maximumByteCount)) != nil
        else { return nil }
        return body
    }

    private static let maximumByteCount = 64 << 20

    /// Reads a body that Polly.JS wrote: pieces of the encoded body, in base64, or in base 16 in older files.
    private static func pieces(_ text: String, isBase64: Bool) throws -> Data {
        guard case .array(let pieces)? = try? JSONParser.parse(text.utf8) else {
            throw PipelineError.corrupt("response.content.text is not an array of pieces")
        }
        let texts = pieces.compactMap(\.string)
        let decoded = isBase64 ? texts.map { Data(base64Encoded: $0) } : []
        let bytes = (decoded.isEmpty || decoded.contains(nil)) ? texts.map(base16) : decoded
        guard texts.count == pieces.count, !bytes.contains(nil) else {
            throw PipelineError.corrupt("response.content.text holds a piece that is neither base64 nor base 16")
        }
        return bytes.reduce(into: Data()) { $0 += $1 ?? Data() }
    }

    private static func base16(_ text: String) -> Data? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(16 * digits[$0] + digits[$0 + 1]) })
    }

    private static func hex(_ text: String, _ place: String) throws -> Data {
        guard let data = base16(text) else {
            throw PipelineError.corrupt("\(place) is marked as binary or hex, and it is not hexadecimal")
        }
        return data
    }

    private static func base64(_ text: String, _ place: String) throws -> Data {
        guard let data = Data(base64Encoded: text) ?? Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
            throw PipelineError.corrupt("\(place) is not base64")
        }
        return data
    }

    /// Returns the bytes of a text.
    ///
    /// As in browsers, ISO-8859-1 and ASCII also include windows-1252.
    ///
    /// An unknown charset, or one that lacks a character of the text, is replaced by UTF-8.
    static func bytes(of text: String, charset: String?) -> Data {
        let encoding = charset.flatMap { MediaType.encoding(ofCharset: $0) } ?? .utf8
        let encodings = encoding == .isoLatin1 || encoding == .ascii ? [encoding, .windowsCP1252] : [encoding]
        return encodings.lazy.compactMap { text.data(using: $0) }.first ?? Data(text.utf8)
    }

    /// Returns the body of a URL-encoded form from its parameters, for a body without text.
    private static func form(_ parameters: [JSONNode]) -> Data? {
        guard !parameters.isEmpty, parameters.allSatisfy({ $0["fileName"] == nil }) else { return nil }
        let pairs = parameters.compactMap { parameter in
            parameter["name"]?.string.map { formText($0) + "=" + formText(parameter["value"]?.string ?? "") }
        }
        return Data(pairs.joined(separator: "&").utf8)
    }

    private static func formText(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false)
            .map { PercentEscapes.encoded($0.utf8) }.joined(separator: "+")
    }
}
