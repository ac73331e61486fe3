import Foundation
import HTTPTypes
import PipelineCore

extension RecordingRedaction {
    /// Redacts an entry of any writer, including custom members.
    ///
    /// What is not redacted stays as it was written. Unknown members follow the rules for JSON.
    package func entry(_ entry: HAREntry) -> HAREntry {
        HAREntry(
            json: mapMembers(of: entry.json) { name, value in
                switch name {
                case "request": request(value)
                case "response": response(value)
                case "startedDateTime", "time", "timings": value
                default: node(value, isHidden: isSecret(name, value))
                }
            }
        )
    }

    /// Redacts the text around the entries of a file: pages, comments and custom members.
    package func log(_ log: JSONNode) -> JSONNode {
        mapMembers(of: log) { name, value in
            switch name {
            case "version", "creator", "browser", "entries": value
            // A number is not a secret: it reveals only what the session used for tests.
            case "_pipeline" where value["randomSeed"]?.int != nil && value.members.count == 1: value
            default: node(value, isHidden: isSecret(name, value))
            }
        }
    }

    private func request(_ request: JSONNode) -> JSONNode {
        let type = HAREntry.fields(request["headers"])[.contentType]
        var result = mapMembers(of: request) { name, value in
            switch name {
            case "url": mapText(of: value, url)
            case "headers": fields(value)
            case "cookies": cookies(value)
            case "queryString": node(value, isHidden: false, pairs: .query)
            case "postData": postData(value, type)
            default: node(value, isHidden: isSecret(name, value))
            }
        }
        updateSize(of: &result, from: request)
        return result
    }

    /// Updates the size of a changed body.
    ///
    /// For a text without an encoding, the size shows whether it is UTF-8 or Latin-1.
    private func updateSize(of result: inout JSONNode, from request: JSONNode) {
        guard let size = request["bodySize"]?.int, let old = request["postData"]?["text"]?.string,
            let new = result["postData"]?["text"]?.string, old != new
        else { return }
        let counts: [(String) -> Int?] = [
            { Data(base64Encoded: $0, options: .ignoreUnknownCharacters)?.count }, { $0.utf8.count },
            { $0.unicodeScalars.count },
        ]
        let isBase64 = request["postData"].map(Self.isBase64) == true
        let count = (isBase64 ? counts[..<1] : counts[1...]).first { $0(old) == size }
        if let count = count?(new) { result["bodySize"] = .integer(count) }
    }

    private static func isBase64(_ data: JSONNode) -> Bool {
        [data["_encoding"], data["encoding"]].contains(.string("base64"))
    }

    private func response(_ response: JSONNode) -> JSONNode {
        let type = HAREntry.fields(response["headers"])[.contentType]
        return mapMembers(of: response) { name, value in
            switch name {
            case "headers", "_trailers": fields(value)
            case "cookies": cookies(value)
            case "content": content(value, type ?? value["mimeType"]?.string, response)
            case "redirectURL": mapText(of: value, url)
            case "_errorKind", "_chunks": value
            default: node(value, isHidden: isSecret(name, value))
            }
        }
    }

    // MARK: Parts

    /// Redacts header fields, also as pairs in arrays and with several values in an array.
    private func fields(_ fields: JSONNode) -> JSONNode {
        mapElements(of: fields) { field in
            let pair = field.elements
            if pair.count == 2, let name = pair[0].string.flatMap({ HTTPField.Name($0) }) {
                return .array([pair[0], mapTexts(of: pair[1]) { self.value(of: name, $0) }])
            }
            guard let text = field["name"]?.string else { return node(field, isHidden: false) }
            return mapMembers(of: field) { member, value in
                guard member == "value", let name = HTTPField.Name(text) else { return node(value, isHidden: false) }
                // Several values may be joined with line breaks.
                return mapTexts(of: value) { lines in
                    lines.split(separator: "\n", omittingEmptySubsequences: false)
                        .map { self.value(of: name, String($0)) }.joined(separator: "\n")
                }
            }
        }
    }

    private func cookies(_ cookies: JSONNode) -> JSONNode {
        if revealsSecrets { return node(cookies, isHidden: false) }
        return mapElements(of: cookies) { cookie in
            mapMembers(of: cookie) { name, value in
                name == "value" ? node(value, isHidden: true) : mapTexts(of: value, values)
            }
        }
    }

    private func postData(_ data: JSONNode, _ fieldType: String?) -> JSONNode {
        let isBase64 = Self.isBase64(data)
        var type = data["mimeType"]?.string ?? ""
        // The field has parameters, such as a boundary, that some writers leave out here.
        if let fieldType, type.isEmpty || MediaType(type).essence == MediaType(fieldType).essence { type = fieldType }
        return mapMembers(of: data) { name, value in
            switch name {
            case "text": mapText(of: value) { bodyText($0, isBase64: isBase64, type) }
            default: node(value, isHidden: false, pairs: .form)
            }
        }
    }

    private func bodyText(_ text: String, isBase64: Bool, _ type: String?) -> String {
        guard isBase64, let body = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            return String(decoding: body(Data(text.utf8), contentType: type), as: UTF8.self)
        }
        let shown = self.body(body, contentType: type)
        return shown == body ? text : shown.base64EncodedString()
    }

    /// Redacts a body.
    ///
    /// A body in pieces or in its content coding is rewritten if it contains a secret.
    private func content(_ content: JSONNode, _ type: String?, _ response: JSONNode) -> JSONNode {
        guard content["text"]?.string?.isEmpty == false else { return node(content, isHidden: false) }
        let fields = HAREntry.fields(response["headers"])
        let entry = HAREntry(json: .object(["response": response]))
        guard let (stored, isCoded) = try? entry.responseBody(fields, nil) else {
            return node(content, isHidden: false)
        }
        let decoded = isCoded ? (try? CodedBody.decode(stored, fields, upTo: Self.decodedByteCount))?.body : stored
        let body = decoded ?? stored
        let shown = self.body(body, contentType: type)
        var result = mapMembers(of: content) { name, value in
            name == "text" ? value : node(value, isHidden: isSecret(name, value))
        }
        guard shown != body else { return result }
        let isText = content["encoding"] == nil && !isCoded
        let charset = MediaType(type ?? "").charset.flatMap { MediaType.encoding(ofCharset: $0) } ?? .utf8
        let text = isText ? String(data: shown, encoding: charset) ?? String(data: shown, encoding: .utf8) : nil
        result["text"] = .string(text ?? shown.base64EncodedString())
        if text == nil { result["encoding"] = .string("base64") }
        if result["_coded"] != nil, decoded != nil { result["_coded"] = nil }
        result["_isBinary"] = nil
        result["size"] = .integer(shown.count)
        result["compression"] = nil
        return result
    }

    private static let decodedByteCount = 64 << 20

    // MARK: Any JSON

    /// Redacts any JSON value.
    package func json(_ json: JSONNode) -> JSONNode { node(json, isHidden: false) }

    /// Redacts a value.
    ///
    /// A hidden value keeps its shape.
    ///
    /// In an object with a `name` and a `value`, a secret name hides the value.
    private func node(_ node: JSONNode, isHidden: Bool, pairs place: SecretPlaces = .textMember) -> JSONNode {
        switch node {
        case .null, .bool: return node
        case .number(let text):
            return isHidden && !revealsSecrets || containsSecret(in: text.utf8) ? .number("0") : node
        case .string(let text):
            return .string(isHidden && !revealsSecrets && !text.isEmpty ? Self.placeholder : self.text(text))
        case .array(let elements):
            return .array(elements.map { self.node($0, isHidden: isHidden, pairs: place) })
        case .object:
            let isPair = node["name"]?.string.map { isSecret(name: $0, in: place) } == true
            return mapMembers(of: node) { name, value in
                let isHidden = isHidden || isSecret(name, value) || isPair && name == "value"
                return self.node(value, isHidden: isHidden, pairs: place)
            }
        }
    }

    private func isSecret(_ name: String, _ value: JSONNode) -> Bool {
        isSecret(name: name, in: value.string == nil ? .member : .textMember)
    }

    private func mapMembers(of node: JSONNode, _ transform: (String, JSONNode) -> JSONNode) -> JSONNode {
        guard case .object(let members) = node else { return self.node(node, isHidden: false) }
        return .object(
            members.map { member in
                let name = HARVocabulary.names.contains(member.name) ? member.name : values(in: member.name)
                return .init(name, transform(member.name, member.value))
            }
        )
    }

    private func mapElements(of node: JSONNode, _ transform: (JSONNode) -> JSONNode) -> JSONNode {
        guard case .array(let elements) = node else { return self.node(node, isHidden: false) }
        return .array(elements.map(transform))
    }

    private func mapText(of node: JSONNode, _ transform: (String) -> String) -> JSONNode {
        guard case .string(let text) = node else { return self.node(node, isHidden: false) }
        return .string(transform(text))
    }

    private func mapTexts(of node: JSONNode, _ transform: (String) -> String) -> JSONNode {
        if case .array = node { return mapElements(of: node) { mapText(of: $0, transform) } }
        return mapText(of: node, transform)
    }
}
