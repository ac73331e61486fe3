@main
enum GitHub {
    static func main() {}
}
