import Pipeline

extension Endpoint {
    /// Creates the endpoint of a target on the embedded server.
    init(_ target: some TargetType, at origin: String) {
        self.init(target)
        url.replace("https://", with: origin + "/")
    }
}
