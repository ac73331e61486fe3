import Foundation

extension RecordingRedaction {
    /// Returns a URL or a URL reference with its secrets hidden: user name, password, the values of secret names in
    /// query and fragment, and secret values.
    ///
    /// Scheme and host remain unchanged even if they contain a secret value. The slashes of the path and the separators
    /// of the query remain too, so that the URL keeps its parts.
    package func url(_ url: String) -> String {
        guard let values = redactor.secretValues else { return hidingNames(inURL: url) }
        var bytes = Array(hidingNames(inURL: url).utf8)
        // A replacement may bring text together that is another secret.
        for _ in 0..<8 {
            let shown = Self.replacing(bytes.withUnsafeBufferPointer(values.ranges), in: bytes)
            if shown == bytes { break }
            bytes = shown
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func hidingNames(inURL url: String) -> String {
        if revealsSecrets { return url }
        let mark = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
        var result = hidingNames(in: String(url[..<mark]))
        var rest = url[mark...]
        while let first = rest.utf8.first {
            let start = rest.utf8.index(after: rest.startIndex)
            let end = rest.utf8[start...].firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
            result += String(decoding: CollectionOfOne(first), as: UTF8.self) + items(rest[start..<end], of: .query)
            rest = rest[end...]
        }
        return result
    }

    /// Returns `name=value` pairs, separated by `&`, with their secrets hidden.
    func items(_ items: Substring, of place: SecretPlaces) -> String {
        Redactor.mapItems(of: items) { item, name in
            guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return encodedValue(item) }
            let start = item.utf8.index(after: equals)
            if isSecret(name: name, in: place), start != item.endIndex { return item[..<start] + Self.placeholder }
            return item[..<start] + self.encodedValue(item[start...])
        }
    }

    /// Returns a percent-encoded value with the secrets hidden in its JSON or URL.
    private func encodedValue(_ value: Substring) -> String {
        guard value.utf8.contains(UInt8(ascii: "%")) else { return text(String(value)) }
        let decoded = PercentEscapes.decoded(value.utf8, plus: 0x20)
        let hidden = revealsSecrets ? nil : SecretText.hidden(in: decoded, redactor.names, .recorded)
        let shown = values(in: Data(hidden ?? decoded))
        return shown.elementsEqual(decoded) ? String(value) : PercentEscapes.encoded(shown)
    }

    // MARK: Values

    /// Replaces ranges of a URL, except for its scheme and host and the bytes that separate its parts.
    private static func replacing(_ ranges: [Range<Int>], in url: [UInt8]) -> [UInt8] {
        guard !ranges.isEmpty else { return url }
        let pathEnd = url.firstIndex { "?#".utf8.contains($0) } ?? url.count
        let slash = url[..<pathEnd].firstIndex(of: UInt8(ascii: "/")) ?? pathEnd
        var host = 0..<0
        var schemeEnd = 0
        if url[slash..<pathEnd].starts(with: "//".utf8), slash == 0 || url[slash - 1] == UInt8(ascii: ":") {
            schemeEnd = slash + 2
            let end = url[schemeEnd..<pathEnd].firstIndex(of: UInt8(ascii: "/")) ?? pathEnd
            host = (url[schemeEnd..<end].lastIndex(of: UInt8(ascii: "@")) ?? schemeEnd)..<end
        }
        var result: [UInt8] = []
        var copied = 0
        for range in ranges {
            result += url[copied..<range.lowerBound]
            var isHidden = false
            for index in range {
                let separators = index < pathEnd ? "/" : "?#&"
                if index < schemeEnd || host.contains(index) || separators.utf8.contains(url[index]) {
                    result.append(url[index])
                    isHidden = false
                } else if !isHidden {
                    result += placeholder.utf8
                    isHidden = true
                }
            }
            copied = range.upperBound
        }
        return result + url[copied...]
    }
}
