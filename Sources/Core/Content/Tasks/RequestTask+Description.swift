extension RequestTask {
    /// The kind of task, without its content.
    public var description: String { kind.description }
}
