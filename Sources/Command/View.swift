#if Tools
import ArgumentParser
import Foundation
import PipelineInspector
import PipelineRecording

/// A command that shows a recording in a browser.
struct View: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a page with the entries, their waterfall, bodies and statistics, and opens it in a browser.",
        discussion: "The page loads nothing from elsewhere. Secrets are hidden in it as in the output of redact."
    )

    @Argument(help: "The recording to show, from any writer.", completion: .file(extensions: ["har"]))
    var file: String

    @Option(name: [.short, .long], help: "The page to write; by default, a temporary file.")
    var output: String?

    @Flag(inversion: .prefixedNo, help: "Whether to open the page.")
    var open = true

    @OptionGroup var secrets: SecretOptions

    func run() throws {
        let tool = HARTool(redactor: try secrets.redactor())
        try Har.run {
            let input = URL(filePath: file)
            let page =
                output.map { URL(filePath: $0) }
                ?? FileManager.default.temporaryDirectory.appending(
                    path: "\(input.deletingPathExtension().lastPathComponent)-\(UUID().uuidString.prefix(8)).html"
                )
            let result = try tool.page(of: input, to: page)
            print("\(page.path): \(result)")
            if open { Self.open(page) }
        }
    }

    /// Opens a page in the default browser, if there is one.
    private static func open(_ page: URL) {
        #if os(macOS)
        let program = "/usr/bin/open"
        #else
        let program = "/usr/bin/xdg-open"
        #endif
        guard FileManager.default.isExecutableFile(atPath: program) else { return }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [page.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        if (try? process.run()) != nil { process.waitUntilExit() }
    }
}
#endif
