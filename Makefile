# make help lists the targets. They need Go, make and Git; make race needs a C compiler too, make test needs PostgreSQL, and make
# lint builds golangci-lint from internal/tools/go.mod. What a target lacks, it installs if it can, or names.

GO       ?= go
BENCH    ?= .
FUZZTIME ?= 10s

# Without paths in what Go compiles, all checkouts share one build cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# Tests that explore many cases try a sample of them. The seed decides which, so each commit tries others; see enginetest.Sample.
export DEBATE_SEED ?= $(shell git rev-parse HEAD)

# The modules of go.work, and all their packages. Those whose tests wait for databases and programs come first, so that others run
# meanwhile.
MODULES  := $(shell sed -n 's/^\t\(\.[^ ]*\)$$/\1/p' go.work)
STORES   := ./store/postgres/... ./integrations/debateriver/... ./store/sqlite/...
WAITING  := $(STORES) ./internal/test/readmetest ./cmd/debate/... ./report/archive ./internal/test/forktest
PACKAGES := $(WAITING) $(filter-out $(WAITING),$(MODULES:%=%/...))

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/debate
LINT  := $(CACHE)/golangci-lint-$(shell cksum <internal/tools/go.sum | tr ' ' -)

# The race detector does not check SQLite, which is a million lines translated from C, or statistics, which has no goroutines.
RACEFLAGS := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/elenchus-go/debate/internal/statistics=-race=false

# Tests write their databases and folders into memory if Linux has 4 GiB of it for files, and runs programs there, because
# that takes less time than a disk. What the go command builds stays where it was.
MEMORY := $(shell grep -q '^[^ ]* /dev/shm tmpfs ' /proc/mounts 2>/dev/null && ! grep '^[^ ]* /dev/shm ' /proc/mounts | grep -q noexec && \
	[ -w /dev/shm ] && df -Pk /dev/shm | awk 'NR == 2 && $$4 >= 4194304 {print "/dev/shm"}')
FILES  := $(if $(MEMORY),GOTMPDIR=$${GOTMPDIR:-$${TMPDIR:-/tmp}} TMPDIR=$(MEMORY))

# Tests allocate much and keep little, so they collect garbage less often than programs do.
export GOGC ?= 400

include .ci/proofs.mk

.DEFAULT_GOAL := help
.PHONY: help test race proofs lint format generate tidy bench release-check postgres

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' Makefile | while IFS='	' read -r t h; do printf '  make %-15s %s\n' "$$t" "$$h"; done

test: postgres ## run the tests of all packages
	@echo "DEBATE_SEED=$(DEBATE_SEED)"
	@$(FILES) $(GO) test -vet=off -p 6 -timeout 15m $(PACKAGES)

# The packages where goroutines of this project meet. The race detector makes tests several times slower, and finds nothing in
# packages whose tests run one goroutine; make proofs ONLY=race runs it over all.
RACE := \
	$(STORES) ./store/... ./internal/test/enginetest ./internal/test/faulttest \
	. ./internal/step/... ./internal/live ./internal/admission \
	./integrations/debatehttp ./integrations/debatemcp \
	./internal/test/peopletest ./internal/test/observertest \
	./providers/internal/wire ./providers/middleware

# Tests of these packages that measure memory or lengths, or read recorded texts, in one goroutine. The race detector finds nothing in
# them, and makes them several times larger and slower.
SOLO := RecordedTexts|RecordedLoops|MemoryOf|LinearMemory|APromptsMemory|AllocationsFor|LongerThanTheTokenLimit|NotHitByArithmetic|CloseToTheWorstCase

race: postgres ## run the race detector where goroutines meet: engine, steps, stores, River, HTTP, MCP
	@echo "DEBATE_SEED=$(DEBATE_SEED)"
	@$(FILES) DEBATE_SPARSE=$(or $(DEBATE_SPARSE),4) GORACE=atexit_sleep_ms=0 $(GO) test -vet=off -p 4 $(RACEFLAGS) -skip '$(SOLO)' -timeout 15m $(RACE)

proofs: $(or $(ONLY:%=proof-%),$(PROOFS)) ## run everything exhaustive, for hours; ONLY=kills runs one part of .ci/proofs.mk

lint: $(LINT) ## check the format, and run golangci-lint on all packages, or on PKG
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	@$(LINT) run $(or $(PKG),$(PACKAGES))

format: $(LINT) ## format all Go files
	@$(LINT) fmt .

generate: ## rewrite golden files and generated documents
	@for d in $$(grep -rl --include='*_test.go' '/internal/test/golden"' . | xargs -r -n 1 dirname | sort -u); do \
		(cd $$d && $(GO) test -count=1 . -update) || exit 1; \
	done

# Modules require each other without replace directives, at versions that may not be published yet. go mod tidy ignores
# go.work, so it works on copies that replace them with this checkout.
tidy: ## run go mod tidy in all modules
	@.ci/tidy

bench: ## run the benchmarks; BENCH=Next selects some
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PACKAGES)

release-check: ## pack all modules as for a release, and use them from an empty folder
	@$(GO) run ./internal/release check

postgres: # looks for the server at DATABASE_URL or for PostgreSQL's programs, and installs them if it can
	@[ -n "$$DATABASE_URL" ] || command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "== install PostgreSQL" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	} || echo "PostgreSQL is missing: its tests are skipped, or fail if CI is set. Install its server or set DATABASE_URL."

$(LINT): # builds golangci-lint, at the version of internal/tools/go.mod
	@mkdir -p $(CACHE) && cd internal/tools && GOWORK=off $(GO) build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
