package import Testing

extension Tag {
    /// For suites that use several tasks or threads; they also run under ThreadSanitizer.
    @Tag package static var concurrent: Self
}
