extension RequestTask: CustomStringConvertible, CustomReflectable {
    /// The kind of task, without what it carries.
    public var description: String { kind.description }

    /// Only what the description shows, so that `dump` leaks nothing.
    public var customMirror: Mirror {
        Mirror(self, children: ["task": description])
    }
}
