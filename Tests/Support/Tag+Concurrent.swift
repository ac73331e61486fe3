package import Testing

extension Tag {
    /// For suites in which several tasks or threads are at work; they also run under ThreadSanitizer.
    @Tag package static var concurrent: Self
}
