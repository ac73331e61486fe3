public import PipelineCore

extension StandardPart {
    /// Signatures over each request as it is sent.
    public static func signing(_ plugin: SigningPlugin) -> StandardPart { StandardPart([.signing: [plugin]]) }
}
