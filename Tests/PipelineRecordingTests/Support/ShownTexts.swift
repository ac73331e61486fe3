import Foundation
import Pipeline
import Synchronization

/// Texts that people may read, and where they are.
final class ShownTexts: Sendable {
    private let state = Mutex<[(text: String, place: String)]>([])

    func add(_ text: String, _ place: String = "description") { state.withLock { $0.append((text, place)) } }

    func addForms(of value: Any) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in [dumped, "\(value)", String(reflecting: value)] { add(text, "\(type(of: value))") }
    }

    func add(_ error: PipelineError) {
        addForms(of: error)
        add(error.localizedDescription, "error")
        if let underlying = error.underlyingError { addForms(of: underlying) }
    }

    /// Returns the places that contain a value as it is, percent-encoded, or in base64 or hexadecimal.
    func places(of value: String) -> Set<String> {
        let hex = value.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let redactor = Redactor(secretValues: [value, hex, hex.uppercased()])
        let texts = state.withLock { $0 }
        return Set(texts.filter { redactor.containsSecret(in: $0.text.utf8) }.map(\.place))
    }
}
