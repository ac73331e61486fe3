import Foundation
public import Pipeline

extension PipelineError {
    /// What to tell the user: ``customText``, else what the server says, else what a `LocalizedError` of a plugin says, else
    /// `localizedDescription`, a short general sentence.
    ///
    /// The server says it in the `detail` or `title` of a problem report, in the member `message` of a JSON object, or as the
    /// one string of an array. A text of nothing but whitespace counts as none.
    ///
    /// **Secrets**: what the server says is for this user, not for a log.
    public var message: String { customText?.unlessBlank ?? serverMessage ?? pluginMessage ?? localizedDescription }

    private var pluginMessage: String? {
        guard code == .plugin else { return nil }
        return (underlyingError as? any LocalizedError)?.errorDescription?.unlessBlank
    }

    /// What the server says of an answer that was not accepted, as ``message`` finds it; `nil` when it says nothing.
    ///
    /// **Secrets**: it is for this user, not for a log.
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
