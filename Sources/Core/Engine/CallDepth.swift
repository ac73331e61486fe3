/// The number of calls that the running code is inside.
enum CallDepth {
    @TaskLocal static var current = 0
}
