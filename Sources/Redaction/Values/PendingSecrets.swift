import Synchronization

/// The messages whose secret values a redactor hides.
package protocol SecretSource: Sendable {
    /// Inserts the values of all messages.
    func insert(into secrets: inout MessageSecrets)
}

/// The secret values of messages, read only when a text may contain one of them.
///
/// Copies of a redactor share it: its values are computed once and do not change.
final class PendingSecrets: Sendable {
    private let redactor: Redactor
    private let source: any SecretSource
    private let beginnings: SecretBeginnings
    private let found = Mutex<SecretValues?>(nil)

    /// Returns `nil` if the messages contain no secret.
    init?(_ redactor: Redactor, _ source: some SecretSource) {
        var secrets = MessageSecrets(beginningsFor: redactor)
        source.insert(into: &secrets)
        guard let beginnings = secrets.beginnings, !beginnings.isEmpty else { return nil }
        self.redactor = redactor
        self.source = source
        self.beginnings = beginnings
    }

    /// The values, together with those that the redactor already hides.
    var values: SecretValues? {
        if let found = found.withLock({ $0 }) { return found }
        var secrets = MessageSecrets(redactor)
        source.insert(into: &secrets)
        let values = secrets.origins.filter { value, origin in
            origin.kind == .field || origin.kind == .cookie || !PlainValue.isPlain(value)
        }
        let made = redactor.adding(secretValues: values.keys).secretValues
        found.withLock { $0 = made }
        return made
    }

    /// Returns `false` only if a text contains none of the values; `true` if it may contain one.
    func mayBeFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        beginnings.mayBeFound(in: text) || redactor.isFound(in: text)
    }
}
