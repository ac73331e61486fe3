import PipelineAuth
import PipelineCore
import PipelinePlugins
import Synchronization

/// The credentials that plugins have set with `authenticate`, the latest of each user.
final class ChallengeCredentials: Sendable {
    private let passwords = Mutex<[String: String]>([:])

    /// A plugin that answers challenges with the credential of the call.
    var plugin: PipelineAuth.CredentialsPlugin {
        PipelineAuth.CredentialsPlugin(
            account: { [self] target in
                guard let credential = target.options[CurrentMoyaCall.self]?.credential else { return "" }
                passwords.withLock { $0[credential.username] = credential.password }
                return credential.username
            },
            credential: { [self] username, _ in
                passwords.withLock { $0[username] }.map { PasswordCredential(username: username, password: $0) }
            }
        )
    }
}
