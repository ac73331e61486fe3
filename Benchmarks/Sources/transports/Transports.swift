@main
struct Transports {
    static func main() async throws {}
}
