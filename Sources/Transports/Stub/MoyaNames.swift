// These declarations cannot be used. They make the compiler say how to stub, which Moya does with a closure.

public import PipelineCore

extension Provider {
    /// Unavailable: pass a ``StubTransport``.
    @available(*, unavailable, message: "pass a transport: Provider(transport: StubTransport(), plugins: …)")
    public convenience init(
        endpointClosure: ((Target) -> Endpoint)? = nil,
        stubClosure: @escaping (Target) -> Void,
        plugins: [any PluginType] = []
    ) {
        self.init(transport: StubTransport(), plugins: plugins)
    }

    /// Unavailable: pass a ``StubTransport``.
    @available(*, unavailable, message: "pass a transport: Provider(transport: StubTransport(), plugins: …)")
    public static func immediatelyStub(_ target: Target) {}
}
