public import Foundation
public import HTTPTypes
public import Pipeline

extension APIRequest {
    /// Returns a copy with another method; without one, a request with a payload is a POST and any other a GET.
    public func method(_ method: HTTPRequest.Method) -> Self { with { $0.namedMethod = method } }

    /// A copy that goes to this server, whatever the client's is.
    public func serverURL(_ server: ServerURL) -> Self { with { $0.server = server } }

    /// A copy with more header fields; names are compared without case, and the last value of a name wins.
    ///
    /// **Secrets**: one that sounds secret is marked so, as of any target, `TargetType.headers`.
    public func headers(_ fields: [String: String]) -> Self {
        with { parts in
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) { parts.setHeader(name, value) }
        }
    }

    /// A copy whose query has a value's members, in the order in which they are encoded, after the endpoint's own query.
    ///
    /// It replaces a value that was given before.
    ///
    /// ```swift
    /// APIRequest("post").query(ListQuery(offset: 0, limit: 100))  // post?offset=0&limit=100
    /// ```
    public func query(_ value: some Encodable & Sendable) -> Self { with { $0.query = value } }

    /// A copy that carries another payload.
    public func payload(_ payload: some APIPayload) -> Self {
        with { parts in
            parts.payload = payload
            parts.task = nil
        }
    }

    /// A copy that carries what a task says, such as a file, a stream or a download, in place of a payload.
    ///
    /// A value that the task encodes as JSON, as a query or as a form, and without an encoder of its own, is written by the client's coders.
    ///
    /// The answer of a download is a file, so its request is an `APIRequest<Nothing>`.
    public func task(_ task: RequestTask) -> Self { with { $0.task = task } }

    /// A copy for which these statuses alone are successes; none at all accepts any status.
    ///
    /// ```swift
    /// APIRequest<Nothing>("post", "7").method(.delete).desiredStatusCode(.noContent, .custom(777))
    /// ```
    public func desiredStatusCode(_ statuses: HTTPResponse.Status...) -> Self { desiredStatusCode(statuses) }

    /// A copy for which these statuses alone are successes; none at all accepts any status.
    public func desiredStatusCode(_ statuses: [HTTPResponse.Status]) -> Self {
        with { $0.statusCodes = statuses.map(\.code) }
    }

    /// A copy whose every exchange may take this long, more than zero, `RequestOptions.attemptTimeout`.
    ///
    /// The time starts when the exchange has a connection, and counts to the last byte of the response, uploads included. Unlike
    /// `URLRequest.timeoutInterval` it does not restart with each byte; `RequestOptions.idleTimeout` does. Each retry may take
    /// as long; the `totalTimeout` of TimeoutPlugin bounds the whole call.
    public func responseTimeout(_ duration: Duration) -> Self { options { $0.attemptTimeout = duration } }

    /// A copy that writes dates in another way than the client; the payload's own `CustomDateEncodingStrategy` wins over it.
    public func dateEncodingStrategy(_ strategy: DateCodingStrategy) -> Self { with { $0.dateEncoding = strategy } }

    /// A copy that reads dates in another way than the client; the answer's own `CustomDateDecodingStrategy` wins over it.
    public func dateDecodingStrategy(_ strategy: DateCodingStrategy) -> Self { with { $0.dateDecoding = strategy } }

    /// A copy with other settings for plugins and transports.
    ///
    /// ```swift
    /// request.options { $0.retry = .never }
    /// ```
    public func options(_ configure: (inout RequestOptions) -> Void) -> Self { with { configure(&$0.options) } }

    /// A copy that a stub answers with these bytes.
    public func sampleData(_ data: Data) -> Self { with { $0.sampleData = data } }
}

extension HTTPResponse.Status {
    /// A status without a name of its own, 100 to 999.
    public static func custom(_ code: Int) -> Self {
        precondition((100...999).contains(code), "a status has three digits, not \(code)")
        return Self(code: code)
    }
}
