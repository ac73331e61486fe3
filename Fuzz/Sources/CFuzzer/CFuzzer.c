// SwiftPM renames the `main` of each executable to `<target>_main`. libFuzzer has only a `main`, so this file defines an entry
// point for each target.
#include <stddef.h>
#include <stdint.h>

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));

static int run(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }

int challenges_main(int argc, char **argv) { return run(argc, argv); }
int events_main(int argc, char **argv) { return run(argc, argv); }
int gzip_main(int argc, char **argv) { return run(argc, argv); }
int harfile_main(int argc, char **argv) { return run(argc, argv); }
int multipart_main(int argc, char **argv) { return run(argc, argv); }
int retryafter_main(int argc, char **argv) { return run(argc, argv); }
int urlform_main(int argc, char **argv) { return run(argc, argv); }
