# What libtuner shows: the functions of tuner.h and nothing else, in the archive and in the shared library, and a versioned
# soname. A program with functions of its own under names that the library uses inside links the archive and runs.
globals() { awk '$2 ~ /^[A-TV-Z]$/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u; }
sed -n 's/^TUNER_API [^(]*[ *]\(tuner_[a-z_0-9]*\)(.*/\1/p' "$ROOT"/client/runtime/tuner.h | LC_ALL=C sort >declared
nm -g --defined-only "$LIB"/libtuner.a 2>/dev/null | globals >archive
nm -D --defined-only "$LIB"/libtuner.so | globals >shared
cat declared
cmp declared archive && cmp declared shared && echo "archive and shared library: these $(wc -l <declared)"
nm -g --defined-only "$LIB"/libtuner.a 2>/dev/null | globals | grep -vc '^tuner_'
version=$(sed -n 's/.*TUNER_VERSION "\(.*\)"/\1/p' "$ROOT"/tuner/base/version.h)
readelf -d "$LIB"/libtuner.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' | sed "s/\.${version%%.*}$/.MAJOR/"
for l in libtuner.so libtuner.so."${version%%.*}"; do
  echo "$l -> $(readlink "$LIB/$l")" | sed "s/$version/VERSION/; s/\.${version%%.*}/.MAJOR/"
done
# libtuner holds the runtime, readers, index expressions and the table of parts (the traffic model needs its rates): no writer of files, command lines, processes, rules, kernels,
# compilers or SQL.
nm "$LIB"/libtuner.so | awk '{ print $NF }' | sed 's/@.*//' | LC_ALL=C sort -u >inside
grep -c '^library_open$\|^yaml_parse$\|^expr_eval$\|^pred_parse$' inside
grep -E '^(yaml_emitter|emit|csv|ini|cli|progress|proc|sizes|solution_derive|deriver|space|rule|param|kernel_emit|gpu_lower|toolchain|build|db|store|sqlite3)_' inside
readelf -d "$LIB"/libtuner.so | grep -E 'NEEDED.*(sqlite|msgpack)'
cat >main.c <<'END'
#include <stdio.h>
#include <tuner.h>
int gpu_alloc(void); int library_open(void); int arena_alloc(void); int file_read(void); int err_set(void);
int gpu_alloc(void) { return 1; }
int library_open(void) { return 2; }
int arena_alloc(void) { return 3; }
int file_read(void) { return 4; }
int err_set(void) { return 5; }
int main(int argc, char **argv)
{
    tuner_library *lib;
    (void)argc;
    printf("%d %s\n", tuner_open(&lib, argv[1], NULL), tuner_error_message());
    printf("%d\n", gpu_alloc() + library_open() + arena_alloc() + file_read() + err_set());
    return 0;
}
END
cc -I"$ROOT"/client/runtime main.c "$LIB"/libtuner.a -lyaml -lmd -ldl -lm -pthread -o program && ./program nowhere
