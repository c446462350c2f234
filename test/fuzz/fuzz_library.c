/* Fuzz target: master solution libraries, msgpack and YAML by content: load, select, build launches. The
 * first two bytes shape the problem that is asked for. What was accepted when the file was opened must be
 * readable later: all solutions are read. */
#include <stdint.h>
#include <string.h>

#include "client/runtime/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const Hardware hw = {{"gfx906", 6}, 60, false};
    static LaunchList list;
    const unsigned char one[16] = {0, 0, 0x80, 0x3f};
    LaunchInputs in = {.alpha = one, .beta = one};
    LaunchHardware launch_hw = {.n_cu = 60};
    Library *lib;
    Contraction p;
    Selection s;
    if (size < 2 || library_parse("fuzz", (Str){(const char *)data + 2, size - 2}, NULL, &hw, &lib)) return 0;
    for (int i = 0; i < 8; i++) {
        contraction_gemm(&p, i & 1, i & 2, 1 + data[0] * i, 1 + data[1], i == 5 ? 0 : 1 + i * 97, 1 + i % 3);
        if (library_select(lib, &p, &s) || !s.solution) continue;
        if (launch_build(&p, s.solution, &in, &launch_hw, &list) == ERR_OK && list.n == 0) __builtin_trap();
        pred_holds(s.solution->problem_pred, &p);
    }
    for (size_t i = 0; i < library_n_solutions(lib); i++)
        if (!library_solution(lib, i)) __builtin_trap();
    library_free(lib);
    return 0;
}
