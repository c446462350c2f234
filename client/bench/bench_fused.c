/* tuner-bench: bias, activation and scale factors, by hipblaslt-bench's options. See bench.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/bench/bench_gpu.h"
#include "problem/target.h"

/* ---- options ---- */

static Err read_switch(const char *name, Str v, bool *out)
{
    *out = str_eq_c(v, "1") || str_eq_c(v, "true");
    if (!*out && !str_eq_c(v, "0") && !str_eq_c(v, "false"))
        FAIL(ERR_INPUT, "--%s: '%.*s' is neither 0 nor 1", name, STR_ARG(v));
    return ERR_OK;
}

static Err read_scale(const char *name, Str v, ScaleAB max, ScaleAB *out)
{
    static const char *const words[][3] = {{"0", "none", ""}, {"1", "s", "Scalar"}, {"2", "v", "Vector"}};
    for (int i = 0; i <= (int)max; i++)
        for (int k = 0; k < 3; k++)
            if (str_eq_c(v, words[i][k])) {
                *out = (ScaleAB)i;
                return ERR_OK;
            }
    FAIL(ERR_INPUT, "--%s: '%.*s', expected 0 (none)%s", name, STR_ARG(v),
         max == SCALE_AB_VECTOR ? ", 1 (a number) or 2 (a vector)" : " or 1 (a number)");
}

static Err read_along(const char *name, Str v, Along *out)
{
    if (!str_eq_c(v, "M") && !str_eq_c(v, "N"))
        FAIL(ERR_INPUT, "--%s: '%.*s' is neither M nor N", name, STR_ARG(v));
    *out = str_eq_c(v, "M") ? ALONG_M : ALONG_N;
    return ERR_OK;
}

static Err read_activation(Str v, Activation *out)
{
    if (!activation_find(v, out))
        FAIL(ERR_INPUT,
             "--activation_type: '%.*s' is not one of none abs clippedrelu gelu leakyrelu relu sigmoid tanh "
             "silu clamp",
             STR_ARG(v));
    return ERR_OK;
}

static Err read_bias_type(BenchFused *f, Str v)
{
    f->bias_type_given = !str_eq_c(v, "default");
    if (f->bias_type_given && !call_type_find(v, &f->bias_type))
        FAIL(ERR_INPUT, "--bias_type: '%.*s' is not a type like f32_r, or default (that of D)", STR_ARG(v));
    return ERR_OK;
}

static Err read_number(const char *name, Str v, double *out)
{
    if (!str_to_f64(v, out) || isnan(*out)) FAIL(ERR_INPUT, "--%s: '%.*s' is not a number", name, STR_ARG(v));
    return ERR_OK;
}

Err bench_fused_set(BenchFused *f, const char *name, Str value, bool *known)
{
    *known = true;
    if (!strcmp(name, "bias_vector")) return read_switch(name, value, &f->bias);
    if (!strcmp(name, "bias_type")) return read_bias_type(f, value);
    if (!strcmp(name, "bias_dim")) return read_along(name, value, &f->bias_along);
    if (!strcmp(name, "activation_type")) return read_activation(value, &f->activation);
    if (!strcmp(name, "activation_arg1")) return read_number(name, value, &f->arg[0]);
    if (!strcmp(name, "activation_arg2")) return read_number(name, value, &f->arg[1]);
    if (!strcmp(name, "scaleA")) return read_scale(name, value, SCALE_AB_VECTOR, &f->scale[FUSED_SCALE_A]);
    if (!strcmp(name, "scaleB")) return read_scale(name, value, SCALE_AB_VECTOR, &f->scale[FUSED_SCALE_B]);
    if (!strcmp(name, "scaleC")) return read_scale(name, value, SCALE_AB_SCALAR, &f->scale[FUSED_SCALE_C]);
    if (!strcmp(name, "scaleD")) return read_scale(name, value, SCALE_AB_SCALAR, &f->scale[FUSED_SCALE_D]);
    if (!strcmp(name, "scaleAlpha_vector")) return read_switch(name, value, &f->scale_alpha);
    if (!strcmp(name, "scaleAlpha_dim")) return read_along(name, value, &f->scale_alpha_along);
    *known = false;
    return ERR_OK;
}

Err bench_fused_finish(BenchCase *c)
{
    BenchFused *f = &c->fused;
    const DataType compute = c->call.type[CALL_COMPUTE], d = c->call.type[c->call.ex ? CALL_D : CALL_C];
    const ScaleAB *s = f->scale;
    if (s[FUSED_SCALE_A] != s[FUSED_SCALE_B])
        FAIL(ERR_INPUT, "--scaleA %d and --scaleB %d: kernels have both, of one kind, or neither",
             (int)s[FUSED_SCALE_A], (int)s[FUSED_SCALE_B]);
    if (s[FUSED_SCALE_C] != s[FUSED_SCALE_D])
        FAIL(ERR_INPUT, "--scaleC %d and --scaleD %d: kernels have both or neither", (int)s[FUSED_SCALE_C],
             (int)s[FUSED_SCALE_D]);
    if (!f->bias && (f->bias_along || f->bias_type_given))
        FAIL(ERR_INPUT, "--%s needs --bias_vector", f->bias_along ? "bias_dim" : "bias_type");
    if (!f->scale_alpha && f->scale_alpha_along)
        FAIL(ERR_INPUT, "--scaleAlpha_dim needs --scaleAlpha_vector");
    f->op = (Fused){.activation = f->activation,
                    .scale_ab = s[FUSED_SCALE_A],
                    .scale_cd = s[FUSED_SCALE_C] != SCALE_AB_NONE};
    if (f->bias) {
        f->op.bias = f->bias_along ? f->bias_along : ALONG_M;
        f->op.bias_type = f->bias_type_given ? f->bias_type : d;
    }
    if (f->scale_alpha) f->op.scale_alpha = f->scale_alpha_along ? f->scale_alpha_along : ALONG_M;
    if (fused_any(&f->op) && compute != TYPE_S && compute != TYPE_D)
        FAIL(ERR_INPUT, "compute type %s has no bias, activation or scale factors, expected f32_r or f64_r",
             call_type_name(compute));
    return ERR_OK;
}

/* ---- data ---- */

/* On the host the memory is that of its Device, which runs nothing here. */
static Err memory_of(Bench *b, Device **out)
{
    const DeviceOptions one_thread = {.n_threads = 1};
    if (!b->gpu && !b->host) TRY(device_host.open(0, &one_thread, &b->host));
    *out = b->gpu ? bench_gpu_device(b->gpu) : b->host;
    return ERR_OK;
}

void bench_epilogue(const BenchCase *c, tuner_epilogue *out)
{
    const Fused *op = &c->fused.op;
    *out = (tuner_epilogue){.size = sizeof *out,
                            .bias_type = (int32_t)op->bias_type,
                            .bias_along = (int32_t)op->bias,
                            .activation = (int32_t)op->activation,
                            .scale_ab = (int32_t)op->scale_ab,
                            .scale_cd = op->scale_cd,
                            .scale_alpha_along = (int32_t)op->scale_alpha,
                            .activation_arg = {c->fused.arg[0], c->fused.arg[1]}};
}

Err bench_fused_init(Bench *b, const BenchCase *c, BenchData *d)
{
    const tuner_gemm_desc *g = &c->g;
    LaunchInputs in = {.a = NULL};
    d->epilogue = NULL;
    if (!fused_any(&c->fused.op)) return ERR_OK;
    TRY(memory_of(b, &d->device));
    const Contraction p = {
        .m = g->m, .n = g->n, .batch = g->batch, .compute_type = (uint8_t)g->compute_type};
    TRY(fused_data_init(&d->fused, &c->fused.op, &p, d->device));
    memcpy(d->fused.vectors.number, c->fused.arg, sizeof c->fused.arg);
    fused_data_inputs(&d->fused, &in);
    bench_epilogue(c, &d->epilogue_of);
    d->epilogue_of.scale_a = in.fused[FUSED_SCALE_A];
    d->epilogue_of.scale_b = in.fused[FUSED_SCALE_B];
    d->epilogue_of.scale_c = in.fused[FUSED_SCALE_C];
    d->epilogue_of.scale_d = in.fused[FUSED_SCALE_D];
    d->epilogue_of.scale_alpha = in.fused[FUSED_SCALE_ALPHA];
    d->epilogue_of.bias = in.fused[FUSED_BIAS];
    d->epilogue_of.bias_stride = in.bias_batch;
    d->epilogue = &d->epilogue_of;
    return ERR_OK;
}

void bench_fused_fini(BenchData *d)
{
    if (d->device) fused_data_free(&d->fused, d->device);
    d->device = NULL;
}

/* ---- printing ---- */

const char *bench_fused_columns(const BenchCase *c)
{
    return fused_any(&c->fused.op)
               ? ",scaleA,scaleB,scaleC,scaleD,scaleAlpha_vector,activation_type,bias_vector,bias_type"
               : "";
}

void bench_fused_print(const BenchCase *c)
{
    static const char *const along[] = {"0", "1", "1:N"}; /* hipblaslt-bench's are along M */
    const Fused *op = &c->fused.op;
    if (!fused_any(op)) return;
    printf(",%d,%d,%d,%d,%s,%s", (int)op->scale_ab, (int)op->scale_ab, op->scale_cd, op->scale_cd,
           along[op->scale_alpha], activation_name(op->activation));
    for (int i = 0; i < activation_numbers(op->activation); i++) printf(":%g", c->fused.arg[i]);
    printf(",%s,%s", along[op->bias], op->bias ? call_type_name(op->bias_type) : "none");
}
