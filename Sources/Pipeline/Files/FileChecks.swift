/// When the files that a task carries are looked at.
enum FileChecks {
    /// While it is encoded; the calling thread waits.
    case immediate
    /// When the body is measured, outside the cooperative pool.
    case deferred
}
