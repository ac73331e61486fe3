#if canImport(SwiftUI)
import Pipeline
import PipelineAuth
import SwiftUI

@main
struct PhotosApp: App {
    @State private var session: UserSession
    @State private var library: PhotoLibrary
    @Environment(\.scenePhase) private var phase

    init() {
        let transport = URLSessionTransport()
        let session = UserSession(
            transport: transport,
            store: KeychainCredentialStore(service: "com.example.photos")
        )
        _session = State(initialValue: session)
        let provider = makeProvider(transport: transport, session: session)
        _library = State(initialValue: PhotoLibrary(provider: provider))
        Task { await session.follow() }  // once, not once for each window
    }

    var body: some Scene {
        WindowGroup {
            PhotoListView(library: library, session: session)
        }
        .onChange(of: phase) {
            if phase == .active { Task { await session.restore() } }
        }
    }
}

#Preview {
    let store = MemoryCredentialStore()
    let session = UserSession(transport: StubTransport(), store: store)
    let provider = makeProvider(transport: StubTransport(), session: session)
    PhotoListView(library: PhotoLibrary(provider: provider), session: session)
        .task {
            await UserSession.save(Login(accessToken: "t", refreshToken: "r", expiry: nil), in: store)
            await session.follow()
        }
}
#endif
