#if !Tools
extension InspectorPlugin.Output {
    /// Unavailable: needs the package trait `Tools`.
    @available(*, unavailable, message: "add traits: [\"Tools\"] to .package(…) of Pipeline in Package.swift")
    public static func loopback(port: UInt16 = 0) -> InspectorPlugin.Output { preconditionFailure("port \(port)") }
}
#endif
