import HTTPTypes

extension PipelineError {
    /// What happened, and what people can do, in English and without details.
    var generalText: String {
        textOfCode ?? cause.flatMap { $0.isNetworkProblem ? $0.textOfCode : nil } ?? textOfStatus
            ?? "The request failed. Try again later."
    }

    private var textOfCode: String? {
        if isRefusal { return "The service is busy. Try again later." }
        return switch code {
        case .offline: "You're not connected to the internet. Check your connection and try again."
        case .timeout: "The server took too long to respond. \(orCheck("Try again later."))"
        case .dns, .connect: "The server cannot be reached. Check your connection, or try again later."
        case .proxy: "The proxy cannot be used. Check the proxy settings of your network."
        case .tls: "A secure connection to the server cannot be made. Check this device's date, or use another network."
        case .connectionLost, .truncated: "The connection to the server was lost. \(orCheck("Try again."))"
        case .limit(.bodyBytes): "The server's response is too large. \(orCheck("Load less, or update the app."))"
        case .malformedResponse, .contentCoding, .mapping, .redirect, .limit, .pagination: unusableResponse
        case .invalidRequest, .encoding: "The request cannot be sent. Check what you entered, or update the app."
        case .bodyChanged: "What you are sending has changed meanwhile. Send it again."
        case .file(.noSpace): "There is not enough storage space. Free some and try again."
        case .file(.exists): "A file with this name exists. Choose another name."
        case .file(.busy): "The file is in use. Try again later."
        case .file(.checksum): "The downloaded file is damaged. Download it again."
        case .file(.unreadable): "The file cannot be read. Choose another file."
        case .file: "The file cannot be saved. Choose another place."
        case .sessionEnded: "Please sign in again."
        case .cancelled: "The request was cancelled."
        case .unsupported, .bodyConsumed, .clientClosed, .stubWithoutTransport:
            "The request failed. Restart the app, or update it."
        default: nil
        }
    }

    private var textOfStatus: String? {
        guard let response else { return nil }
        return switch response.statusCode {
        case 401: "You're not signed in. Please sign in again."
        case 403: "You're not allowed to do this. Sign in with another account, or ask for access."
        case 404: "This item does not exist. Check its name or address."
        case 408, 423, 425: "The server did not accept the request. Try again later."
        case 409: "This conflicts with what the server has. Load it again, check it, and repeat your change."
        case 410: "This item no longer exists."
        case 412: "This item was changed meanwhile. Load it again and repeat your change."
        case 413: "What you tried to send is too large. Send something smaller."
        case 422: "The server did not accept what you entered. Check it and try again."
        case 429: "There were too many requests. Try again later."
        case 451: "This item is not available for legal reasons."
        case 400..<500: "The server did not accept the request. Check what you entered, or update the app."
        case 503: "The service is temporarily unavailable. Try again later."
        case 500..<600: "The service has a problem. \(orCheck("Try again later."))"
        default: unusableResponse
        }
    }

    private var unusableResponse: String {
        "The server's response cannot be used. \(orCheck("Try again later, or update the app."))"
    }

    /// Returns the advice, or another one if the server may have carried out a request that must not be repeated then
    /// (RFC 9110 §9.2.2).
    private func orCheck(_ advice: String) -> String {
        guard let request, !exchanges.isEmpty, !code.provesNothingSent,
            ![.get, .head, .options, .trace, .put, .delete].contains(request.method)
        else { return advice }
        return "Check whether your change was made before you repeat it."
    }
}
