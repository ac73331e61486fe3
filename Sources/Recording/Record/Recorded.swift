import PipelineCore

/// The data that a recorder has collected.
struct Recorded: Sendable {
    /// The entries, keyed by the order in which their requests began.
    var entries: [Int: HAREntry] = [:]
    /// The keys of new entries whose requests match no old entry.
    var missing: Set<Int> = []
    /// The new entries that replace old ones, by index.
    var replacements: [Int: HAREntry] = [:]
    /// The values of secret fields of requests and of cookies of responses.
    var secrets = RecordedSecrets()
    /// The seed of the random numbers of the session; `nil` if no provider used them.
    var randomSeed: UInt64?
    /// The reason why an exchange is missing.
    var problem: PipelineError?
}
