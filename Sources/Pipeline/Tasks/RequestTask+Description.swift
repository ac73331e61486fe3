extension RequestTask: CustomStringConvertible, CustomReflectable {
    /// The kind of task, without what it carries.
    public var description: String {
        switch kind {
        case .plain: "plain"
        case .data: "data"
        case .jsonEncodable: "JSON of a value"
        case .form: "a value as pairs"
        case .parameters: "parameters"
        case .composite, .compositeParameters: "composite"
        case .file: "a file"
        case .stream: "a stream"
        case .multipart: "a form of several parts"
        case .download: "a download"
        case .api: "what an APIRequest carries"
        }
    }

    /// Only what the description shows, so that `dump` leaks nothing.
    public var customMirror: Mirror {
        Mirror(self, children: ["task": description])
    }
}
