#if AsyncHTTPClient
import NIOHTTP2
import PipelineCore

/// Errors of NIOHTTP2. Some types are not public, so they are recognized by name.
extension AsyncHTTPClientErrorMapping {
    private static let largeHeader = "ExcessivelyLargeHeaderBlock"
    private static let fatal: Set<String> = [largeHeader, "ExcessiveContinuationFrames", "UnableToParseFrame"]
    private static let floods: Set<String> = [
        "ExcessiveControlFrames", "ExcessiveEmptyDataFrames", "ExcessiveNumberOfGlitches", "ExcessiveRSTFrames",
        "ExcessiveStreamErrors",
    ]

    /// Returns whether NIO stops reading from a connection after this error, or has sent a GOAWAY because the server
    /// sends too many frames that carry nothing.
    static func endsHTTP2Connection(_ error: any Error) -> Bool {
        name(of: error).map { fatal.contains($0) || floods.contains($0) } ?? false
    }

    /// Returns the meaning of an HTTP/2 error, or `nil` for any other error.
    static func meaningOfHTTP2(_ error: any Error, _ phase: Phase) -> Meaning? {
        guard let name = name(of: error) else { return nil }
        if isRefusal(error), phase != .body {
            return (.connectionLost, "the server refused the request and did not process any part of it; send it again")
        }
        switch name {
        case largeHeader: return (.limit(.headerBytes), "the header fields are larger than NIO accepts")
        case "StreamClosed": return lost(phase)
        case _ where floods.contains(name):
            return (.malformedResponse, "the server sent too many HTTP/2 frames that carry nothing")
        default:
            return (.malformedResponse, "the response is not HTTP/2, or its header fields are larger than NIO accepts")
        }
    }

    /// Returns whether the server has not processed any part of a request that ended with this error.
    ///
    /// The stream was reset with REFUSED_STREAM, or its number is above that of a GOAWAY.
    ///
    /// Source: RFC 9113 §8.7, https://www.rfc-editor.org/rfc/rfc9113.html#section-8.7
    static func isRefusal(_ error: (any Error)?) -> Bool {
        (error as? NIOHTTP2Errors.StreamClosed)?.errorCode == .refusedStream
    }

    /// Returns the name of the error's type if it belongs to NIOHTTP2.
    private static func name(of error: any Error) -> String? {
        let parts = String(reflecting: type(of: error)).split(separator: ".")
        guard let module = parts.first, module == "NIOHTTP2" || module == "NIOHPACK" else { return nil }
        return parts.last.map(String.init)
    }
}
#endif
