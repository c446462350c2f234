# A library compiled into a program: createlib writes the C source, libtuner opens it by name, whole and lazy, and runs it.
mkdir data logic
H="GFlops,SizeI,SizeJ,SizeK,SizeL,LDD,LDC,LDA,LDB,WinnerFreq,TotalFlops,WinnerPower,WinnerTemperature,a,b"
cp "$DATA"/logic/host.yaml data/Cijk_Ailk_Bljk_SB_00.yaml
printf '%s\n' "$H" 0,64,64,1,64,64,64,64,64,1,2,3,4,10,12 1,65,64,1,64,65,65,65,64,1,2,3,4,10,-1 \
  2,66,64,1,64,66,66,66,64,1,2,3,4,-1,-1 3,67,64,1,64,67,67,67,64,1,2,3,4,nan,7.5 >data/Cijk_Ailk_Bljk_SB_00.csv
"$BIN"/tuner-logic analyze data logic --schedule host --arch x86-64-v2 --device "any CPU" >/dev/null 2>&1; echo "exit $?"
"$BIN"/tuner-createlib -v 0 -j 1 --embed-library whole --embed-library-key k1 logic out1 HOST; echo "exit $?"
"$BIN"/tuner-createlib -v 0 -j 1 --embed-library lazy --lazy-library-loading --separate-architectures logic out2 HOST; echo "exit $?"
grep -c data_ out1/library/whole.c out2/library/lazy.c
cat >main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client/runtime/tuner.h"
static float a[64 * 64], b[64 * 64], c[64 * 64];
static int run(const char *path)
{
    tuner_library *lib;
    float one = 1, zero = 0;
    int wrong = 0;
    if (tuner_open(&lib, path, NULL)) return printf("%s\n", tuner_error_message());
    for (int i = 0; i < 64 * 64; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5), c[i] = 99;
    if (tuner_sgemm(lib, TUNER_N, TUNER_N, 64, 60, 64, &one, a, 64, b, 64, &zero, c, 64))
        return printf("%s\n", tuner_error_message());
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 60; j++) {
            float s = 0;
            for (int l = 0; l < 64; l++) s += a[i + 64 * l] * b[l + 64 * j];
            wrong += s != c[i + 64 * j];
        }
    printf("%s: %zu solutions, %d wrong elements\n", tuner_library_path(lib), tuner_library_solutions(lib), wrong);
    tuner_close(lib);
    return 0;
}
int main(void)
{
    const char *const paths[] = {"embedded:whole", "embedded:whole:k1", "embedded:lazy", "embedded:whole:k2", "embedded:"};
    for (int i = 0; i < 5; i++) run(paths[i]);
    setenv("TUNER_LIBPATH", "embedded:lazy", 1);
    run(NULL);
    return tuner_embedded_add(NULL, NULL, "x", NULL, 0) == TUNER_INPUT ? 0 : 1;
}
END
cc -Wall -Werror -I"$ROOT" -o program main.c out1/library/whole.c out2/library/lazy.c "$LIB"/libtuner.a -lyaml -lmd -ldl -lm -pthread
./program
mv out1 gone1; mv out2 gone2
cc -Wall -Werror -I"$ROOT" -o shared main.c gone1/library/whole.c gone2/library/lazy.c -L"$LIB" -ltuner -Wl,-rpath,"$LIB"
./shared
