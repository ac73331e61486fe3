import Foundation
public import Pipeline

extension PipelineError {
    /// What to tell the user: ``customText``, else what the server says, else what a `LocalizedError` of a plugin says, else a general text.
    ///
    /// The server says it in the `detail` or `title` of a problem report, in the member `message` of a JSON object, or as the
    /// one string of an array. A text of nothing but whitespace counts as none.
    ///
    /// **Secrets**: what the server says is for this user, not for a log.
    public var message: String { customText?.unlessBlank ?? serverMessage ?? pluginMessage ?? generalText }

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

    private var generalText: String {
        switch code {
        case .offline: return "You're not connected to the internet"
        case .timeout: return "The server took too long to answer"
        case .cancelled: return "The request was cancelled"
        case .dns, .connect: return "The server cannot be reached"
        default: break
        }
        switch response?.statusCode {
        case 401?: return "You're not authorized"
        case 403?: return "This action is prohibited"
        case 404?: return "Not found"
        case 429?: return "Too many requests"
        case 500?, 502?, 503?, 504?: return "The service is temporarily unavailable"
        default: return "Something went wrong"
        }
    }
}
