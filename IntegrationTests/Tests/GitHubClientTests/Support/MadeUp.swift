/// The data of the `StandIn`, in the form of GitHub's API.
enum MadeUp {
    static let text = "# hello-world\n\nMade-up data for an example.\n"

    static let repositories: [[String: any Sendable]] = [
        repository("anemone", "Swift", 312, "Colors from photographs of the sea"),
        repository("barnacle", "C", 48, "A tiny allocator"),
        repository("coral", "Swift", 2_071, "A growing set of layouts"),
        repository("dogfish", "Python", 7, "Lints commit messages"),
        repository("eelgrass", nil, 0, nil),
        repository("flounder", "Rust", 129, "Finds files that nothing uses"),
        repository("gannet", "Go", 84, "Fetches feeds"),
        repository("hello-world", "Swift", 1_543, "The first program"),
        repository("isopod", "Shell", 15, "Sets up a new machine"),
        repository("jellyfish", "TypeScript", 640, "Charts that float"),
        repository("kelp", "Swift", 226, "Parsers, layer upon layer"),
    ]

    static let issues: [[String: any Sendable]] = [
        issue(31, "The greeting ignores the locale", by: "octo-cat", labels: ["bug", "localization"]),
        issue(30, "Greet several people", by: "octo-crab", isPullRequest: true),
        issue(28, "Document the exit codes", by: "octo-squid", labels: ["documentation"]),
        issue(25, "Build on Windows", by: "octo-cat"),
        issue(19, "Colors cannot be turned off", by: "octo-ray", labels: ["bug"]),
    ]

    static let release: [String: any Sendable] = [
        "tag_name": "1.2.0", "assets": [["id": 7, "name": "hello-world.zip"] as [String: any Sendable]],
    ]

    private static func repository(
        _ name: String,
        _ language: String?,
        _ stars: Int,
        _ description: String?
    ) -> [String: any Sendable] {
        var repository: [String: any Sendable] = [
            "name": name, "stargazers_count": stars, "pushed_at": "2025-11-\(10 + name.count)T09:30:00Z",
        ]
        if let language { repository["language"] = language }
        if let description { repository["description"] = description }
        return repository
    }

    private static func issue(
        _ number: Int,
        _ title: String,
        by user: String,
        labels: [String] = [],
        isPullRequest: Bool = false
    ) -> [String: any Sendable] {
        var issue: [String: any Sendable] = [
            "number": number, "title": title, "user": ["login": user], "labels": labels.map { ["name": $0] },
        ]
        if isPullRequest { issue["pull_request"] = ["merged_at": "2025-11-20T09:30:00Z"] }
        return issue
    }
}
