public import Pipeline

extension Provider {
    /// How many exchanges are in flight that calls share or could share, 0 without a `DeduplicationPlugin`.
    ///
    /// An exchange counts until the moment before its callers have their answer. A plugin that several providers hold counts those
    /// of all of them.
    public var inflightCount: Int {
        plugins.reduce(0) { $0 + (($1 as? DeduplicationPlugin)?.inflightCount ?? 0) }
    }
}
