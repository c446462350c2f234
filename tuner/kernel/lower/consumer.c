/* What calls and statements of a consumer warp group are, for trace.h. See consumer.h. */
#include "kernel/lower/consumer_run.h"

static Consumer *consumer(Trace *r) { return (Consumer *)r; } /* its first member */
static const Thing nothing = {.kind = THING_NONE};

/* A field of the cursor or of a tile. */
static bool field(Trace *run, Str of, Thing x, const char *name, Thing *is)
{
    Consumer *r = consumer(run);
    *is = nothing;
    if (x.kind == THING_TILE) {
        if (!same_name(name, r->c->count)) return false;
        if (x.number < 0) REFUSE(run, "a warp group multiplies a tile behind the end of the walk");
        *is = thing_number(x.number);
        return true;
    }
    if (!str_eq_c(of, r->c->cursor)) return false;
    if (same_name(name, "stage")) *is = thing_number(consumer_stage(r, r->at));
    if (same_name(name, "phase")) *is = thing_number(consumer_parity(r, r->at));
    return is->kind == THING_NUMBER;
}

static Thing stage_argument(Trace *r, const Value *v)
{
    const Thing x = v->n ? trace_value(r, v->list[v->n - 1]) : nothing;
    if (x.kind != THING_NUMBER) REFUSE(r, "the stage of a call of %s is not known", v->name);
    return x;
}

/* Calls of what consumer.h names. False: it is none of them. */
static bool call(Trace *run, const Value *v, Thing *is)
{
    Consumer *r = consumer(run);
    const Consumers *c = r->c;
    if (is_named(v, c->full)) {
        *is = (Thing){.kind = THING_BARRIER, .number = stage_argument(run, v).number};
    } else if (is_named(v, c->tile[0]) || is_named(v, c->tile[1])) {
        *is = (Thing){.kind = THING_STAGE, .number = stage_argument(run, v).number};
    } else if (is_named(v, c->skip)) {
        consumer_skip(r, stage_argument(run, v).number);
    } else if (is_named(v, c->done)) {
        *is = thing_number(r->tile == r->walk->n);
    } else if (is_named(v, c->next)) {
        r->tile++;
    } else if (is_named(v, c->take)) {
        /* one behind the end may be taken, but not multiplied */
        *is = (Thing){.kind = THING_TILE, .number = r->tile < r->walk->n ? r->walk->chunks[r->tile] : -1};
    } else if (is_named(v, c->meet)) {
        r->meetings++;
    } else if (is_named(v, c->turn_wait) || is_named(v, c->turn_give)) {
        consumer_event(r, is_named(v, c->turn_wait) ? EVENT_TURN_WAIT : EVENT_TURN_GIVE,
                       (int)stage_argument(run, v).number);
    } else if (is_named(v, c->release)) {
        Thing stage = nothing;
        for (int i = 0; i < v->n && stage.kind != THING_NUMBER; i++) stage = trace_value(run, v->list[i]);
        if (stage.kind != THING_NUMBER) REFUSE(run, "a stage is released whose number is not known");
        consumer_release(r, (int)stage.number);
    } else
        return false;
    return true;
}

/* The call of a function that is not in the tree. Of a stage's address it makes one of the same stage. */
static Thing outside(Trace *run, const Value *v)
{
    Consumer *r = consumer(run);
    Thing stage = nothing;
    int n = 0, registers[CONSUMER_OPERANDS];
    for (int i = 0; i < v->n; i++) {
        const Thing x = trace_value(run, v->list[i]);
        if (x.kind == THING_STAGE) stage = x;
        if (x.kind == THING_REGISTERS && n < CONSUMER_OPERANDS) registers[n++] = (int)x.number;
    }
    if (stage.kind == THING_STAGE) consumer_read(r, (int)stage.number);
    for (int i = 0; i < n; i++) consumer_use(r, registers[i]);
    for (int i = 0; i < n && stage.kind == THING_STAGE; i++)
        r->registers[registers[i]].from |= UINT64_C(1) << stage.number;
    return stage;
}

/* ---- statements ---- */

/* Registers: arrays of them, and the accumulators. */
static bool array(Trace *run, const Stmt *s, Thing *is)
{
    Consumer *r = consumer(run);
    if (r->n_registers == CONSUMER_REGISTERS) {
        REFUSE(run, "more than %d arrays of registers", CONSUMER_REGISTERS);
        return false;
    }
    r->registers[r->n_registers] = (Registers){.name = s->name, .newer = CONSUMER_DONE, .used = true};
    *is = (Thing){.kind = THING_REGISTERS, .number = r->n_registers++};
    return true;
}

static void use(Trace *r, Thing x)
{
    if (x.kind == THING_REGISTERS) consumer_use(consumer(r), (int)x.number);
}

/* Registers are forgotten with their names; parameters are other names of the same ones. */
static void forget(Trace *run)
{
    int64_t n = 0;
    for (int i = 0; i < run->n_names; i++)
        if (run->name[i].is.kind == THING_REGISTERS && run->name[i].is.number >= n)
            n = run->name[i].is.number + 1;
    consumer_forget(consumer(run), (int)n);
}

static void await_products(Trace *run, const Stmt *s)
{
    Consumer *r = consumer(run);
    const Thing x = trace_value(run, s->x);
    if (x.kind == THING_REGISTERS)
        consumer_await(r, s, r->registers[x.number].newer);
    else if (x.kind == THING_NUMBER && x.number >= 0 && x.number < r->c->ring->n_stages)
        consumer_await(r, s, r->stage[x.number].newer);
    else
        REFUSE(run, "a wait for products that is for neither registers nor a stage");
}

static bool statement(Trace *run, const Stmt *s)
{
    Consumer *r = consumer(run);
    switch (s->kind) {
    case STMT_PHASE:
        consumer_acquire(r, trace_value(run, s->to), trace_value(run, s->x));
        return true;
    case STMT_ADVANCE:
        consumer_advance(r);
        return true;
    case STMT_PRODUCT:
        consumer_product(r, trace_value(run, s->product->acc), trace_value(run, s->product->x),
                         trace_value(run, s->product->y));
        return true;
    case STMT_PRODUCT_FENCE:
        for (int i = 0; i < r->n_registers; i++) r->registers[i].used = false;
        return true;
    case STMT_PRODUCT_COMMIT:
        consumer_commit(r);
        return true;
    case STMT_PRODUCT_AWAIT:
        await_products(run, s);
        return true;
    default:
        return false;
    }
}

/* Stages and groups of products, so that every iteration of a loop matters. */
static bool statement_steers(StmtKind kind)
{
    return kind == STMT_PHASE || kind == STMT_ADVANCE || kind == STMT_PRODUCT_COMMIT ||
           kind == STMT_PRODUCT_AWAIT || kind == STMT_PRODUCT_FENCE;
}

static bool call_steers(const Trace *run, const char *name)
{
    const Consumers *c = ((const Consumer *)run)->c;
    const char *const steering[] = {c->skip, c->next, c->release, c->meet, c->turn_wait, c->turn_give};
    for (size_t i = 0; i < sizeof steering / sizeof *steering; i++)
        if (same_name(name, steering[i])) return true;
    return false;
}

static const char *not_followed(const Trace *r) { return ((const Consumer *)r)->c->store; }

/* ---- all warp groups ---- */

/* Runs a warp group over a walk. */
static void run_group(Consumer *r, const Stmt *f, int group)
{
    consumer_start(r);
    trace_know(&r->run, r->c->group, thing_number(group));
    trace_body(&r->run, f);
    consumer_end(r);
}

static Err checked(const Stmts *s, const Consumers *c, bool derives, int *releases)
{
    static const TraceRules rules = {.what = "a warp group",
                                     .call = call,
                                     .field = field,
                                     .outside = outside,
                                     .not_followed = not_followed,
                                     .statement = statement,
                                     .array = array,
                                     .use = use,
                                     .forget = forget,
                                     .steers = statement_steers,
                                     .call_steers = call_steers};
    const Stmt *f;
    Consumer *r = trace_new(sizeof *r, &rules, s, c->function, &f);
    if (!r) return trace_free(r);
    r->c = c, r->derives = derives;
    if (c->ring->n_stages < 1 || c->ring->n_stages > STAGES_MAX || c->n_groups > CONSUMER_GROUPS)
        REFUSE(&r->run, "%d stages and %d warp groups", c->ring->n_stages, c->n_groups);
    for (int w = 0; !r->run.e && consumer_walk(r, w); w++) {
        for (int g = 0; g < c->n_groups && !r->run.e; g++) {
            r->group = g;
            run_group(r, f, g);
        }
        consumer_together(r, releases);
    }
    consumer_waits(r, s->first);
    return trace_free(r);
}

Err consumer_derive(Stmts *s, const Consumers *c, int *releases) { return checked(s, c, true, releases); }

Err consumer_verify(const Stmts *s, const Consumers *c, int *releases)
{
    return checked(s, c, false, releases);
}
