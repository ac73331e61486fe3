import ArgumentParser
import Foundation
import Pipeline

struct DownloadCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Downloads an asset of the latest release, or a file of the default branch.",
        discussion: "An unfinished download is kept in FILE.part, from which the next run resumes."
    )

    @Argument(help: "The repository, as OWNER/REPO.") var repository: RepositoryName
    @Argument(help: "The name of an asset, or the path of a file.") var name: String
    @Option(name: .customLong("to"), help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String
    @OptionGroup var options: ClientOptions

    func show(_ client: Client) async throws {
        let file = URL(filePath: file)
        let target: GitHubAPI =
            if let asset = try await asset(client) {
                .asset(id: asset.id, of: repository, to: file)
            } else {
                .file(path: name, of: repository, to: file)
            }
        let count = try await download(target, client)
        client.printer.show("\(name): \(ProgressBar.byteText(count)) in \(self.file)")
    }

    /// Downloads a file while a bar shows the progress, and returns the size of the file.
    private func download(_ target: GitHubAPI, _ client: Client) async throws -> Int {
        var bar = ProgressBar(client.printer)
        defer { bar.end() }
        var count = 0
        for try await step in client.provider.requestWithProgress(target) {
            bar.show(step)
            count = step.transfer.byteCount
        }
        return count
    }

    /// Returns the asset with the name; `nil` if the latest release has none, or if there is no release.
    private func asset(_ client: Client) async throws -> Release.Asset? {
        do {
            let release = try await client.provider.request(GitHubAPI.latestRelease(of: repository), as: Release.self)
            return release.assets.first { $0.name == name }
        } catch let error as PipelineError where error.statusCode == 404 {
            return nil
        }
    }
}
