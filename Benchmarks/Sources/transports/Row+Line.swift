extension Row {
    static let heading = """
                                         requests/s        of direct requests/s       processor µs       allocations
                                           directly     no plugins  six plugins   directly    six     directly    six
        """

    /// The line of the table below the heading, for the first three sides.
    var line: String {
        let (direct, none, six) = (results[0], results[1], results[2])
        return title
            + Text.right(direct.requestsPerSecond, 0, 10) + Text.right(none.ofDirect, 3, 15)
            + Text.right(six.ofDirect, 3, 13)
            + Text.right(direct.processorMicroseconds, 1, 11) + Text.right(six.processorMicroseconds, 1, 7)
            + Text.right(direct.allocations, 1, 13) + Text.right(six.allocations, 1, 7)
    }
}
