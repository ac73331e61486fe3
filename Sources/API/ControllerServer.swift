/// What an ``EndpointController`` may name as its server: a ``ServerURL``, or an optional one.
public protocol ControllerServer {
    /// The server; `nil` for that of the client.
    var serverURL: ServerURL? { get }
}

extension ServerURL: ControllerServer {
    /// This.
    public var serverURL: ServerURL? { self }
}

extension Optional: ControllerServer where Wrapped == ServerURL {
    /// This.
    public var serverURL: ServerURL? { self }
}
