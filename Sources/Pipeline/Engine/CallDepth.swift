/// How many calls the running code is inside.
enum CallDepth {
    @TaskLocal static var current = 0
}
