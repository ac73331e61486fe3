import Foundation

/// The blocks of a PEM file.
///
/// Source: RFC 7468 §2, https://www.rfc-editor.org/rfc/rfc7468.html#section-2
enum PEM {
    private static let certificateLabel = "CERTIFICATE"

    /// Returns the certificates in DER, in order; `nil` if there is none or one is not in Base64.
    static func certificates(_ bytes: some Sequence<UInt8>) -> [[UInt8]]? {
        let blocks = blocks(bytes).filter { $0.label == certificateLabel }
        let certificates = blocks.compactMap { Data(base64Encoded: $0.text).map { [UInt8]($0) } }
        // Every certificate in DER is a SEQUENCE.
        guard !blocks.isEmpty, certificates.count == blocks.count, certificates.allSatisfy({ $0.first == 0x30 }) else {
            return nil
        }
        return certificates
    }

    /// Returns whether there is a block with a private key.
    static func hasPrivateKey(_ bytes: some Sequence<UInt8>) -> Bool {
        blocks(bytes).contains { $0.label.hasSuffix("PRIVATE KEY") }
    }

    private static func blocks(_ bytes: some Sequence<UInt8>) -> [(label: String, text: String)] {
        var blocks: [(label: String, text: String)] = []
        var open: (label: String, text: String)?
        for line in String(decoding: Array(bytes), as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                open = (String(line.dropFirst(11).dropLast(5)), "")
            } else if line.hasPrefix("-----END ") {
                if let block = open { blocks.append(block) }
                open = nil
            } else {
                open?.text += line
            }
        }
        return blocks
    }
}
