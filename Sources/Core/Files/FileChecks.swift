/// When the files of a task are checked.
enum FileChecks {
    /// While the task is encoded; blocks the calling thread.
    case immediate
    /// When the body is measured, outside the cooperative pool.
    case deferred
}
