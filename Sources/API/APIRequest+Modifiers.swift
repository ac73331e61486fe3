public import Foundation
public import HTTPTypes
public import Pipeline

extension APIRequest {
    /// Returns a copy with another method; without one, a request with a payload is a POST and any other a GET.
    public func method(_ method: HTTPRequest.Method) -> Self { with { $0.namedMethod = method } }

    /// Returns a copy that is sent to this server instead of the client's.
    public func serverURL(_ server: ServerURL) -> Self { with { $0.server = server } }

    /// Returns a copy with additional header fields, which replace earlier fields with the same names.
    ///
    /// Names are compared without case.
    ///
    /// **Secrets**: a field whose name sounds secret is marked as secret, as for any target; see `TargetType.headers`.
    public func addHeaders(_ fields: [String: String]) -> Self {
        with { parts in
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) { parts.setHeader(name, value) }
        }
    }

    /// Returns a copy whose query has the members of a value, in the order in which they are encoded, after the endpoint's own
    /// query.
    ///
    /// The value replaces an earlier one.
    ///
    /// ```swift
    /// APIRequest("post").query(ListQuery(offset: 0, limit: 100))  // post?offset=0&limit=100
    /// ```
    public func query(_ value: some Encodable & Sendable) -> Self { with { $0.query = value } }

    /// Returns a copy with another payload, which also replaces a task.
    public func payload(_ payload: some APIPayload) -> Self {
        with { parts in
            parts.payload = payload
            parts.task = nil
        }
    }

    /// Returns a copy with the content of a task, such as a file, a stream or a download, in place of a payload.
    ///
    /// A value that the task encodes as JSON, as a query or as a form is encoded by the client's coders, unless the task has an
    /// encoder.
    ///
    /// The response of a download is a file, so its request is an `APIRequest<IgnoredBody>`.
    public func task(_ task: RequestTask) -> Self { with { $0.task = task } }

    /// Returns a copy that succeeds with these statuses only, in place of 200.
    ///
    /// A status without a name is a number of three digits.
    ///
    /// ```swift
    /// APIRequest<IgnoredBody>("post", "7").method(.delete).desiredStatusCode(.noContent, 777)
    /// ```
    public func desiredStatusCode(_ status: HTTPResponse.Status, _ others: HTTPResponse.Status...) -> Self {
        validation(.customCodes([status.code] + others.map(\.code)))
    }

    /// Returns a copy that succeeds with the statuses of a validation, such as `.successCodes` for 200 to 299.
    public func validation(_ type: ValidationType) -> Self { with { $0.validation = type } }

    /// Returns a copy whose exchanges may each take this long, more than zero; see `RequestOptions.attemptTimeout`.
    ///
    /// The time starts when the exchange has a connection and ends with the last byte of the response, uploads included. Unlike
    /// `URLRequest.timeoutInterval` it does not restart with each byte; `RequestOptions.idleTimeout` does. Each retry may take
    /// as long; the `totalTimeout` of TimeoutPlugin limits the whole call.
    public func attemptTimeout(_ duration: Duration) -> Self { options { $0.attemptTimeout = duration } }

    /// Returns a copy that encodes dates in another way than the client; a payload's `CustomDateEncodingStrategy` wins over it.
    public func dateEncodingStrategy(_ strategy: DateCodingStrategy) -> Self { with { $0.dateEncoding = strategy } }

    /// Returns a copy that decodes dates in another way than the client; a result's `CustomDateDecodingStrategy` wins over it.
    public func dateDecodingStrategy(_ strategy: DateCodingStrategy) -> Self { with { $0.dateDecoding = strategy } }

    /// Returns a copy with other options for plugins and transports.
    ///
    /// ```swift
    /// request.options { $0.retry = .never }
    /// ```
    public func options(_ configure: (inout RequestOptions) -> Void) -> Self { with { configure(&$0.options) } }

    /// Returns a copy whose response from a stub transport has this body.
    public func sampleData(_ data: Data) -> Self { with { $0.sampleData = data } }
}
