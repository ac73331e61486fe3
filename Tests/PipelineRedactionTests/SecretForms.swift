import Foundation
import Pipeline

/// The forms in which a text may contain a secret, written by other code than the redactor uses to read them.
enum SecretForm: CaseIterable {
    case clear
    case percentEncoded
    case percentEncodedWhole
    case form
    case json
    case jsonWhole
    case base64
    case base64Unpadded
    case base64URL
    case basic
    case jsonInJSON
    case base64InJSON
    case base64InQuery
    case urlInQuery
    case jsonInQuery
    case urlInJSON

    func text(of secret: String, _ random: inout PipelineRandom) -> String {
        switch self {
        case .clear: secret
        case .percentEncoded: Self.percentEncoded(secret, &random) { Self.isUnreserved($0) }
        case .percentEncodedWhole: Self.percentEncoded(secret, &random) { _ in false }
        case .form:
            Self.percentEncoded(secret, &random) { Self.isUnreserved($0) || $0 == 0x20 }
                .replacingOccurrences(of: " ", with: "+")
        case .json: Self.json(secret)
        case .jsonWhole: Self.jsonWhole(secret, &random)
        case .base64: Data(secret.utf8).base64EncodedString()
        case .base64Unpadded: Self.base64.unpadded(SecretForm.base64.text(of: secret, &random))
        case .base64URL:
            SecretForm.base64Unpadded.text(of: secret, &random).replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_")
        case .basic:
            Data((Self.word(&random) + secret + Self.word(&random)).utf8).base64EncodedString()
        case .jsonInJSON: Self.json(Self.json(secret))
        case .base64InJSON: Self.json(SecretForm.basic.text(of: secret, &random))
        case .base64InQuery: SecretForm.percentEncoded.text(of: SecretForm.basic.text(of: secret, &random), &random)
        case .urlInQuery: SecretForm.percentEncoded.text(of: SecretForm.form.text(of: secret, &random), &random)
        case .jsonInQuery: SecretForm.form.text(of: Self.json(secret), &random)
        case .urlInJSON: Self.jsonWhole(SecretForm.percentEncoded.text(of: secret, &random), &random)
        }
    }

    private func unpadded(_ text: String) -> String { text.replacingOccurrences(of: "=", with: "") }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 || (0x30...0x39).contains(byte)
            || "-._~".utf8.contains(byte)
    }

    private static func percentEncoded(
        _ text: String,
        _ random: inout PipelineRandom,
        keeping isKept: (UInt8) -> Bool
    ) -> String {
        var result = ""
        for byte in text.utf8 {
            if isKept(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: Bool.random(using: &random))
                result += "%" + (byte < 16 ? "0" : "") + digits
            }
        }
        return result
    }

    /// As Foundation writes it, without the quotes: slashes escaped.
    private static func json(_ text: String) -> String {
        guard let data = try? JSONEncoder().encode(text) else { return "" }
        return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
    }

    private static func jsonWhole(_ text: String, _ random: inout PipelineRandom) -> String {
        text.utf16.map { unit in
            let digits = String(unit, radix: 16, uppercase: Bool.random(using: &random))
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    private static func word(_ random: inout PipelineRandom) -> String {
        String(
            (0..<Int.random(in: 0...7, using: &random)).map { _ in "abcxyz019:".randomElement(using: &random) ?? "a" }
        )
    }
}

extension PipelineRandom {
    /// Makes a secret of 4 to 40 bytes from the characters of passwords, tokens and keys.
    mutating func makeSecret() -> String {
        let alphabets = [
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "ABCXYZabcxyz019+/-_=.~", "aZ0 +/%&=?#\"\\'<>{}[]:;,@!$^*()|`\n\té漢👍",
        ]
        let alphabet = alphabets.randomElement(using: &self) ?? ""
        var secret = ""
        let count = Int.random(in: 4...32, using: &self)
        while secret.utf8.count < count { secret += String(alphabet.randomElement(using: &self) ?? "a") }
        return secret
    }
}
