import Foundation

extension PipelineError {
    /// What to tell the user: ``customText``, else what the server says, else what a `LocalizedError` of a plugin says, else a general text.
    ///
    /// The server says it in the `detail` or `title` of a problem report, in the member `message` of a JSON object, or as the
    /// one string of an array.
    ///
    /// **Secrets**: what the server says is for this user, not for a log.
    public var message: String { customText ?? serverMessage ?? pluginMessage ?? generalText }

    private var pluginMessage: String? {
        guard code == .plugin else { return nil }
        return (underlyingError as? any LocalizedError)?.errorDescription
    }

    private var serverMessage: String? {
        guard code == .unacceptableStatus, let response, !response.data.isEmpty, response.data.count <= 1 << 20 else {
            return nil
        }
        if let problem = response.problemDetails, let text = problem.detail ?? problem.title { return text }
        struct Message: Decodable { let message: String }
        if let message = try? JSONDecoder().decode(Message.self, from: response.data) { return message.message }
        guard let texts = try? JSONDecoder().decode([String].self, from: response.data), texts.count == 1 else {
            return nil
        }
        return texts.first
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
