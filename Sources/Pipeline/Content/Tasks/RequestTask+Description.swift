extension RequestTask {
    /// The kind of task, without what it carries.
    public var description: String { kind.description }
}
