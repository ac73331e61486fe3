import Foundation
import PipelineCaching

/// Runs the lines `checkPublicSuffix(HOST, DOMAIN);` of a file against a public suffix list.
@main
struct Vectors {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let tests = arguments.first else { return fail("The path of test_psl.txt is missing.") }
        let clock = ContinuousClock()

        var loaded = PublicSuffixList?.none
        let parseTime: Duration
        if let path = arguments.dropFirst().first {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            parseTime = clock.measure { loaded = PublicSuffixList(text) }
        } else {
            parseTime = clock.measure { loaded = PublicSuffixList.system }
        }
        guard let list = loaded else { return fail("The system has no public suffix list; pass the path of one.") }

        var failedCount = 0
        var hosts: [String] = []
        let lines = try String(contentsOfFile: tests, encoding: .utf8).split(separator: "\n")
        for line in lines {
            guard let match = line.wholeMatch(of: /checkPublicSuffix\((.*), (.*)\);\s*/) else { continue }
            let host = value(match.1) ?? ""
            hosts.append(host)
            let domain = list.registrableDomain(of: host)
            if domain == value(match.2).flatMap(ascii) { continue }
            failedCount += 1
            print("failed: \(line), not \(domain ?? "null")")
        }
        guard !hosts.isEmpty else { return fail("\(tests) contains no line checkPublicSuffix(…).") }

        var foundCount = 0
        let rounds = 1_000
        let lookupTime = clock.measure {
            for _ in 0..<rounds {
                for host in hosts where list.registrableDomain(of: host) != nil { foundCount += 1 }
            }
        }
        print("the list was loaded in \(parseTime)")
        let time = lookupTime / (rounds * hosts.count)
        print("\(time) per lookup; \(foundCount / rounds) of \(hosts.count) hosts have a registrable domain")
        print("\(hosts.count) tests, \(hosts.count - failedCount) passed, \(failedCount) failed")
        if failedCount > 0 { exit(1) }
    }

    private static func value(_ argument: Substring) -> String? {
        argument == "null" ? nil : String(argument.dropFirst().dropLast())
    }

    /// Returns a domain in ASCII form, encoded by Foundation.
    private static func ascii(_ domain: String) -> String? {
        URL(string: "http://\(domain)/")?.host(percentEncoded: false)
    }

    private static func fail(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
