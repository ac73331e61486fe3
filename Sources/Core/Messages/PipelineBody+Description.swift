extension PipelineBody {
    /// The kind and the length of the body, without its bytes.
    public var description: String {
        if isAbsent { return "no body" }
        let count = byteCount.map { "\($0) bytes" }
        if bytes != nil { return count ?? "bytes" }
        let kind = fileURL == nil ? "a stream" : "a file"
        return count.map { "\(kind) of \($0)" } ?? kind
    }
}
