# tuner: build, test, measure. `make help` lists the targets.
# Options: B=dir (build folder), STATIC=1 (libraries linked in), DEBUG=1, SAN=address,undefined, CC=clang, V=1
B      ?= build
PREFIX ?= /usr/local
CC     ?= cc
Q      := $(if $(V),,@)

WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings -Werror
# clang 18 and later warn of enum constants in arithmetic with floating-point numbers, gcc of vectors that inlined functions take.
WARN   += -Wno-enum-float-conversion -Wno-psabi
OPT    := $(if $(DEBUG)$(SAN),-O1 $(if $(DEBUG),-g3,-g1) -fno-omit-frame-pointer,-O2 -g1)
SANF   := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)
CFLAGS += -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -pthread -Ituner -I. -I$(B)/gen $(WARN) $(OPT) $(SANF)
LDFLAGS += -pthread $(SANF)

# msgpack-c is libmsgpackc before version 6 and libmsgpack-c since
MSGPACK := $(if $(filter /%,$(shell $(CC) -print-file-name=libmsgpack-c.so)),-lmsgpack-c,-lmsgpackc)
# libxlsxwriter is optional: without it (with STATIC=1: without its archive) 'tuner report' writes no .xlsx
XLSX    := $(if $(filter /%,$(shell $(CC) -print-file-name=libxlsxwriter.$(if $(STATIC),a,so))),-lxlsxwriter$(if $(STATIC), -lz))
CFLAGS  += $(if $(XLSX),-DHAVE_XLSXWRITER)
comma   := ,
pick    = $(if $(STATIC),-Wl$(comma)-Bstatic $(1) -Wl$(comma)-Bdynamic,$(1))
L_RUN  := $(call pick,-lyaml -lmd) -ldl -lm
L_CORE := $(call pick,-lsqlite3 $(MSGPACK) -lyaml -lmd $(XLSX)) -ldl -lm

src     = $(sort $(wildcard $(addsuffix /*.c,$(1))))
objs    = $(patsubst %.c,$(B)/obj/%.o,$(1))

# libtuner: the runtime and what it needs of base, the readers of fmt, problem and index; no writer, no process.
RUN_PARTS  := $(addprefix base/,arena err filemap fs hash map own seal str) \
              $(addprefix fmt/,command keys msgpack_read msgpack_scan node scalar yaml_read) \
              $(addprefix problem/,conv conv_desc conv_part conv_size copy_engine datatype fused helper_name index_sizes \
                indices indices_type gemm_call keep lines miopen model model_check model_choice model_forest model_lanes model_parts model_places model_select model_sides model_trees pack part pointwise predicate \
                predicate_hardware predicate_io predicate_scan problem problem_name sizes target traffic window) \
              $(addprefix index/,expr expr_eval walk walk_stream)
RUN_SRC    := $(patsubst %,tuner/%.c,$(RUN_PARTS)) $(call src,client/runtime)
KERNELS    := $(addprefix tuner/kernel/,lower host gpu amdgcn nvptx tile)
CORE_SRC   := $(call src,$(addprefix tuner/,base fmt problem index space kernel build measure) $(KERNELS))
DEVICE_SRC := $(call src,client/device client/worker client/race client/peer) client/answer.c client/events.c client/options.c
LOGIC_SRC  := $(filter-out logic/main.c,$(call src,logic))
CREATE_SRC := $(filter-out createlib/main.c,$(call src,createlib))
TUNER_SRC  := $(call src,tuner/run tuner/report tuner/workload)
ALL_SRC    := $(sort $(RUN_SRC) $(CORE_SRC) $(DEVICE_SRC) $(LOGIC_SRC) $(CREATE_SRC) $(TUNER_SRC))

PROGRAMS := $(B)/bin/tuner $(B)/bin/tuner-client $(B)/bin/tuner-bench $(B)/bin/tuner-logic $(B)/bin/tuner-createlib \
            $(B)/bin/tuner-nvrtc
VERSION  := $(shell sed -n 's/.*TUNER_VERSION "\(.*\)"/\1/p' tuner/base/version.h)
# libtuner.so -> libtuner.so.MAJOR (the soname) -> libtuner.so.VERSION
SONAME   := libtuner.so.$(firstword $(subst ., ,$(VERSION)))
LIBS     := $(addprefix $(B)/lib/,libtuner.a libtuner.so $(SONAME) libtuner.so.$(VERSION))
UNIT     := $(patsubst test/unit/%.c,$(B)/unit/%,$(call src,test/unit))
FUZZ     := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(call src,test/fuzz))
BENCH    := $(patsubst test/bench/%.c,$(B)/bench/%,$(call src,test/bench))
GOLDEN_TOOLS := $(B)/conformance/emit $(B)/bench/record_bench

.PHONY: all help conformance-amd conformance-nvptx conformance-mutation workflow-kill quickstart check unit golden bench lint fuzz fuzz-run \
        clang syntax fmt golden-rewrite install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAMS) $(LIBS)

help:
	@echo 'all quickstart check (lint unit golden) conformance-amd conformance-nvptx conformance-mutation workflow-kill bench fuzz clang fmt'
	@echo 'golden-rewrite install uninstall clean'
	@echo 'options: B=dir STATIC=1 DEBUG=1 SAN=address,undefined CC=clang V=1 FUZZ_SECONDS=60 PREFIX=/usr/local'

# Files of a choice of a kernel: their instructions are scheduled for x86 with AVX-512 (4 % less time, on an AMD EPYC too).
TUNE_X86 := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-mtune=skylake-avx512)
OF_FILE   = $(if $(filter %/model_lanes.c %/model_choice.c,$(1)),-ffp-contract=fast) \
            $(if $(filter $(addprefix %/model_,lanes.c choice.c forest.c places.c),$(1)),$(TUNE_X86))
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(Q),@echo '  CC  $<')
	$(Q)$(CC) $(CFLAGS) $(call OF_FILE,$<) -MMD -MP -c -o $@ $<

# Texts of kernels that are files of their own language, as a table.
TEXTS := $(sort $(wildcard tuner/kernel/*/text/*))
$(B)/gen/kernel_texts.c: $(TEXTS) scripts/embed.sh
	@mkdir -p $(@D)
	$(Q)sh scripts/embed.sh $(TEXTS) >$@
# The page of a report.
PAGE := $(sort $(wildcard $(addprefix tuner/report/page/*.,html css js)))
$(B)/gen/page_text.c: $(PAGE) scripts/embed_page.sh
	@mkdir -p $(@D)
	$(Q)sh scripts/embed_page.sh tuner/report/page >$@
$(B)/obj/kernel_texts.o $(B)/obj/page_text.o: $(B)/obj/%.o: $(B)/gen/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -Wno-overlength-strings -c -o $@ $<

# Everything but the programs' main files, as one archive: the linker takes what a program uses.
$(B)/obj/all.a: $(call objs,$(ALL_SRC)) $(B)/obj/kernel_texts.o $(B)/obj/page_text.o Makefile
	$(Q)rm -f $@; $(AR) rcs $@ $(filter %.o,$^)

# One object whose hidden symbols are local: a program that links the archive sees tuner_* and nothing else.
OBJCOPY ?= objcopy
$(B)/lib/libtuner.a: $(call objs,$(RUN_SRC))
	@mkdir -p $(@D)
	$(Q)$(LD) -r -o $(B)/obj/libtuner.o $^ && $(OBJCOPY) --localize-hidden $(B)/obj/libtuner.o
	$(Q)rm -f $@; $(AR) rcs $@ $(B)/obj/libtuner.o

# Sanitizers leave symbols to the program.
$(B)/lib/libtuner.so.$(VERSION): $(call objs,$(RUN_SRC))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--exclude-libs,ALL $(if $(SAN),,-Wl$(comma)-z$(comma)defs) \
	  -o $@ $^ $(L_RUN)
$(B)/lib/$(SONAME): $(B)/lib/libtuner.so.$(VERSION)
	$(Q)ln -sf $(<F) $@
$(B)/lib/libtuner.so: $(B)/lib/$(SONAME)
	$(Q)ln -sf $(<F) $@

link = @mkdir -p $(@D); $(if $(Q),echo '  LD  $@';) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1)

$(B)/bin/tuner: $(B)/obj/tuner/main.o $(B)/obj/all.a
	$(call link,$(L_CORE))
$(B)/bin/tuner-client: $(B)/obj/client/main.o $(B)/obj/all.a
	$(call link,$(L_CORE))
$(B)/bin/tuner-bench: $(call objs,$(call src,client/bench)) $(B)/obj/all.a
	$(call link,$(L_RUN))
$(B)/bin/tuner-logic: $(B)/obj/logic/main.o $(B)/obj/all.a
	$(call link,$(L_CORE))
$(B)/bin/tuner-createlib: $(B)/obj/createlib/main.o $(B)/obj/all.a
	$(call link,$(L_CORE))
$(B)/bin/tuner-nvrtc: $(call objs,$(call src,tuner/build/nvrtc)) $(B)/obj/all.a
	$(call link,$(L_CORE))

$(B)/unit/%: $(B)/obj/test/unit/%.o $(B)/obj/test/support.o $(B)/obj/all.a
	$(call link,$(L_CORE) -lcmocka)
$(B)/conformance/%: $(B)/obj/test/conformance/%.o $(B)/obj/all.a
	$(call link,$(L_CORE))
$(B)/bench/%: $(B)/obj/test/bench/%.o $(B)/obj/all.a
	$(call link,$(L_CORE))
# Fuzz targets: libFuzzer with clang in a build folder of their own, FUZZ_SECONDS each.
FUZZ_SECONDS ?= 60
$(B)/fuzz/%: $(B)/obj/test/fuzz/%.o $(B)/obj/all.a
	$(call link,$(L_CORE) -fsanitize=fuzzer)

# Fake driver libraries for tests: FAKE_x flags and files by folder of $(B)/fake.
FAKE_cuda      := -DCUDA -Wl,-soname,libcuda.so.1 -o libcuda.so.1
FAKE_cuda_old  := -DCUDA -DOLD -Wl,-soname,libcuda.so.1 -o libcuda.so.1
FAKE_cuda_bad  := -DCUDA -DBROKEN -Wl,-soname,libcuda.so.1 -o libcuda.so.1
FAKE_hip5      := -DHIP=5 -Wl,-soname,libamdhip64.so.5 -o libamdhip64.so.5
FAKE_hip6      := -DHIP=6 -Wl,-soname,libamdhip64.so.6 -o libamdhip64.so.6
FAKE_hip7      := -DHIP=7 -Wl,-soname,libamdhip64.so.7 -o libamdhip64.so.7
FAKES          := $(foreach f,cuda cuda_old cuda_bad hip5 hip6 hip7,$(B)/fake/$(f)/built)
$(B)/fake/%/built: $(call src,test/fake) $(wildcard test/fake/*.h)
	@mkdir -p $(@D)
	$(Q)cd $(@D) && $(CC) $(filter-out -I%,$(CFLAGS)) -I$(CURDIR) -shared $(FAKE_$*) \
	  $(addprefix $(CURDIR)/test/fake/,fake_gpu.c fake_memory.c fake_state.c fake_gemm.c) -lm
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libnvidia-ml.so.1 -o $(@D)/libnvidia-ml.so.1 test/fake/fake_nvml.c
	$(Q)for f in cublas cublasLt; do $(CC) $(CFLAGS) -shared -Wl,-soname,lib$$f.so.13 -o $(@D)/lib$$f.so.13 \
	  test/fake/fake_cublas.c test/fake/fake_state.c -ldl || exit 1; done
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libcudnn.so.9 -o $(@D)/libcudnn.so.9 test/fake/fake_cudnn.c test/fake/fake_state.c -ldl
	@cd $(@D) && for f in libamdhip64.so.?; do [ ! -f $$f ] || ln -sf $$f libamdhip64.so; done; touch built

quickstart: all
	$(Q)sh scripts/quickstart.sh --no-setup

check: all $(UNIT) $(FAKES) $(GOLDEN_TOOLS)
	@bad=0; rm -f $(B)/counts.* $(B)/failed.log; sh scripts/lint.sh >$(B)/lint.log 2>&1; lint=$$?; cat $(B)/lint.log; \
	sh test/unit/run.sh $(B) $(UNIT) || bad=1; sh test/golden/run.sh $(B) || bad=1; sh scripts/summary.sh $(B) || bad=1; \
	[ $$lint = 0 ] || cat $(B)/lint.log; exit $$((bad | lint))

# AMD kernels and libraries on the emulator: COUNT random ones per architecture beside one of each family; SEED=n repeats.
conformance-amd: $(B)/conformance/emit all
	$(Q)sh test/conformance/amd/run.sh loop_stats.py --build $(B) --check test/bench/results/amd_loops.md
	$(Q)sh test/conformance/amd/run.sh far.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh order.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh f8.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh fp16_alt.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh fused.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh contraction.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh contraction_configs.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh conv.py --build $(B)
	$(Q)sh test/conformance/amd/run.sh tile.py --build $(B) --only amd
	$(Q)sh test/conformance/amd/run.sh --build $(B) --families $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))
	$(Q)sh test/conformance/amd/run.sh --build $(B) --walks $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))
	$(Q)sh test/conformance/amd/run.sh --build $(B) --arch gfx90a,gfx942 --sizes 4 $(if $(COUNT),--count $(COUNT)) \
	  $(if $(SEED),--seed $(SEED)) $(addprefix --config ,$(wildcard test/data/tensile/config/ext_streamk*.yaml test/data/tensile/walks/*))
	$(Q)sh test/conformance/amd/run.sh --build $(B) --arch gfx90a,gfx942 --sizes 5 --having DirectToVgpr $(if $(COUNT),--count $(COUNT)) \
	  $(if $(SEED),--seed $(SEED)) $(addprefix --config ,$(wildcard test/data/tensile/direct/*))
	$(Q)sh test/conformance/amd/run.sh --build $(B) --arch gfx90a,gfx942 --sizes 6 --having DepthULdsDivisor $(if $(COUNT),--count $(COUNT)) \
	  $(if $(SEED),--seed $(SEED))
	$(Q)sh test/conformance/amd/run.sh library_run.py --build $(B) $(if $(SEED),--seed $(SEED))

# The text of NVIDIA kernels on the CPU.
conformance-nvptx: $(B)/conformance/emit
	$(Q)sh test/conformance/amd/run.sh ../nvptx/emulate.py --build $(B)
	$(Q)for t in convolutions window keep; do sh test/conformance/amd/run.sh ../nvptx/$$t.py --build $(B) || exit 1; done
	$(Q)sh test/conformance/amd/run.sh tile.py --build $(B) --only nvptx

# Changes of kernels' texts, each of which conformance must find: COUNT per family.
conformance-mutation: $(B)/conformance/emit
	$(Q)sh test/conformance/amd/run.sh mutation.py --build $(B) $(if $(COUNT),--count $(COUNT))
	$(Q)sh test/conformance/amd/run.sh ../nvptx/mutation.py --build $(B) $(if $(COUNT),--count $(COUNT))
	$(Q)sh test/conformance/amd/run.sh ../nvptx/protocol.py --build $(B)

# scripts/tune_all.sh, killed at 20 random moments.
workflow-kill: all
	$(Q)KILLS=20 sh test/golden/run.sh $(B) workflow_kill

unit: $(UNIT) $(FAKES) all
	$(Q)sh test/unit/run.sh $(B) $(UNIT)

golden: all $(FAKES) $(GOLDEN_TOOLS)
	$(Q)sh test/golden/run.sh $(B)

golden-rewrite: all $(FAKES) $(GOLDEN_TOOLS)
	$(Q)sh test/golden/run.sh $(B) --rewrite

bench: all $(BENCH)
	$(Q)sh test/bench/run.sh $(B) $(BENCH)

lint:
	$(Q)sh scripts/lint.sh

fuzz:
	$(Q)$(MAKE) --no-print-directory B=$(B)/san CC=clang SAN=fuzzer-no-link,address,undefined fuzz-run

fuzz-run: $(FUZZ)
	$(Q)sh test/fuzz/run.sh $(B) $(FUZZ_SECONDS) $(FUZZ)

# Everything through clang for its warnings; the fuzz targets, sanitizers in them, on the same inputs in every run, not optimized.
clang:
	$(Q)$(MAKE) --no-print-directory B=$(B)/san0 CC=clang SAN=fuzzer-no-link,address,undefined FUZZ_SECONDS=fixed \
	  OPT='-O0 -g1 -fno-omit-frame-pointer' \
	  syntax fuzz-run

# What the fuzz targets do not link is read, not compiled.
READ := $(call src,client client/bench createlib logic tuner tuner/build/nvrtc test test/unit test/bench test/conformance)
syntax: $(patsubst %.c,$(B)/obj/%.syntax,$(filter-out $(ALL_SRC),$(READ)))
$(B)/obj/%.syntax: %.c
	@mkdir -p $(@D)
	$(if $(Q),@echo '  READ  $<')
	$(Q)$(CC) $(CFLAGS) -MMD -MP -MT $@ -MF $(@:.syntax=.d) -fsyntax-only $<
	@touch $@

fmt:
	$(Q)git ls-files '*.c' '*.h' | grep -v /text/ | xargs clang-format -i

install: all
	$(Q)sh scripts/install.sh $(B) '$(PREFIX)' '-lyaml -lmd -ldl -lm -pthread'

uninstall: all
	$(Q)sh scripts/install.sh $(B) '$(PREFIX)' '' --uninstall

clean:
	rm -rf $(B)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
