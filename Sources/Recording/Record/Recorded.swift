import Pipeline

/// What a recorder has collected.
struct Recorded: Sendable {
    /// By the order in which their requests began.
    var entries: [Int: HAREntry] = [:]
    /// Of the new entries, those of requests that no old entry matches.
    var missing: Set<Int> = []
    /// New entries for old ones, by index.
    var replacements: [Int: HAREntry] = [:]
    /// What secret fields of requests and cookies of responses have held.
    var secrets = RecordedSecrets()
    /// Why something is missing that was to be recorded.
    var problem: PipelineError?
}
