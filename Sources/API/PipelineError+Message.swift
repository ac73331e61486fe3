import Foundation
public import PipelineCore

extension PipelineError {
    /// The message to show to the user.
    ///
    /// It is the first of these that there is: ``customText``, the server's message, the text of a plugin's
    /// `LocalizedError`, `localizedDescription` (a short general sentence).
    ///
    /// The server's message is the `detail` or `title` of a problem report, the member `message` of a JSON object, or
    /// the only string of an array. Text that consists only of whitespace is ignored.
    ///
    /// **Secrets**: the server's message is meant for this user; do not log it.
    public var message: String { customText?.unlessBlank ?? serverMessage ?? pluginMessage ?? localizedDescription }

    private var pluginMessage: String? {
        guard code == .plugin else { return nil }
        return (underlyingError as? any LocalizedError)?.errorDescription?.unlessBlank
    }

    /// The server's message in a response whose status was not accepted, found as for ``message``; `nil` if there is
    /// none.
    ///
    /// **Secrets**: the message is meant for this user; do not log it.
    public var serverMessage: String? {
        guard code == .unacceptableStatus, let response, !response.data.isEmpty, response.data.count <= 1 << 20 else {
            return nil
        }
        let problem = response.problemDetails
        if let text = problem?.detail?.unlessBlank ?? problem?.title?.unlessBlank { return text }
        struct Message: Decodable { let message: String }
        if let text = try? JSONDecoder().decode(Message.self, from: response.data).message { return text.unlessBlank }
        guard let texts = try? JSONDecoder().decode([String].self, from: response.data), texts.count == 1 else {
            return nil
        }
        return texts.first?.unlessBlank
    }
}
