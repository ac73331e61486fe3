public import Foundation
public import HTTPTypes
public import PipelineCore

extension APIRequest {
    /// Returns a copy with another method.
    ///
    /// The default is POST for a request with a payload and GET for any other.
    public func method(_ method: HTTPRequest.Method) -> Self { with { $0.namedMethod = method } }

    /// Returns a copy whose metrics and traces show this template of the path, such as `/users/{id}`.
    ///
    /// The template must contain no value and is not sent; see `TargetType.pathTemplate`.
    public func pathTemplate(_ template: String) -> Self { with { $0.pathTemplate = template } }

    /// Returns a copy that is sent to this server instead of the client's.
    public func serverURL(_ server: ServerURL) -> Self { with { $0.server = server } }

    /// Returns a copy with additional header fields, which replace earlier fields with the same names.
    ///
    /// Names are compared case-insensitively.
    ///
    /// **Secrets**: a field is marked as secret if its name is on the list of secret names, as for any target; see
    /// `TargetType.headers`.
    public func addHeaders(_ fields: [String: String]) -> Self {
        with { parts in
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) { parts.setHeader(name, value) }
        }
    }

    /// Returns a copy with a query that is encoded from a value.
    ///
    /// The members of the value follow the endpoint's own query, in the order of their encoding. A later value replaces
    /// an earlier one.
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

    /// Returns a copy that carries the content of a task, such as a file, a stream or a download, instead of a payload.
    ///
    /// If the task encodes a value as JSON, as a query or as a form, it uses the client's coders, unless it has its own
    /// encoder.
    ///
    /// The response to a download is a file, so use an `APIRequest<IgnoredBody>` for it.
    public func task(_ task: RequestTask) -> Self { with { $0.task = task } }

    /// Returns a copy that succeeds only with these statuses, instead of 200 to 299.
    ///
    /// Write a status that has no name as a three-digit number.
    ///
    /// ```swift
    /// APIRequest<IgnoredBody>("post", "7").method(.delete).desiredStatusCode(.noContent, 777)
    /// ```
    public func desiredStatusCode(_ status: HTTPResponse.Status, _ others: HTTPResponse.Status...) -> Self {
        validation(.customCodes([status.code] + others.map(\.code)))
    }

    /// Returns a copy that succeeds with the statuses of a validation, such as `.successCodes` for 200 to 299.
    public func validation(_ type: ValidationType) -> Self { with { $0.validation = type } }

    /// Returns a copy whose exchanges may each take this long, which must be more than zero; see
    /// `RequestOptions.attemptTimeout`.
    ///
    /// The time starts when the exchange has a connection and ends with the last byte of the response; it includes
    /// uploads. Unlike `URLRequest.timeoutInterval`, it does not restart with each byte; `RequestOptions.idleTimeout`
    /// does. Each retry has the full time again; the `totalTimeout` of TimeoutPlugin limits the whole call.
    public func attemptTimeout(_ duration: Duration) -> Self { options { $0.attemptTimeout = duration } }

    /// Returns a copy that encodes dates with this strategy.
    ///
    /// A payload's `CustomDateEncodingStrategy` takes precedence.
    public func dateEncodingStrategy(_ strategy: DateCodingStrategy) -> Self { with { $0.dateEncoding = strategy } }

    /// Returns a copy that decodes dates with this strategy.
    ///
    /// A result's `CustomDateDecodingStrategy` takes precedence.
    public func dateDecodingStrategy(_ strategy: DateCodingStrategy) -> Self { with { $0.dateDecoding = strategy } }

    /// Returns a copy with changed options for plugins and transports.
    ///
    /// ```swift
    /// request.options { $0.retry = .never }
    /// ```
    public func options(_ configure: (inout RequestOptions) -> Void) -> Self { with { configure(&$0.options) } }

    /// Returns a copy for which a stub transport responds with this body.
    public func sampleData(_ data: Data) -> Self { with { $0.sampleData = data } }
}

extension OptionsModifying {
    /// Returns a copy whose call takes at least this long to succeed, by setting `RequestOptions.minimumDuration`; zero
    /// or more.
    ///
    /// A failure is not delayed unless MinimumDurationPlugin applies to all results, `appliesTo: .always`.
    public func additionalTimeout(_ duration: Duration) -> Self { options { $0.minimumDuration = duration } }
}
