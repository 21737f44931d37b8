# Targets explain themselves: make help. Only Go, make, a C compiler (for the race detector) and PostgreSQL are needed;
# make lint and make format also need golangci-lint.

GO       ?= go
GOLANGCI ?= golangci-lint
BENCH    ?= .
FUZZTIME ?= 10s

KILLS_EACH   ?= 50
KILLS_RANDOM ?= 600

# Pinned, since each version finds other things.
GOLANGCI_VERSION := v2.15.0

MODULES := $(sort $(dir $(shell find . -name go.mod -not -path '*/testdata/*')))
PATH    := $(PATH):$(shell $(GO) env GOPATH)/bin
export PATH

.DEFAULT_GOAL := help
.PHONY: help test soak lint format bench fuzz generate postgres golangci-lint

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(MAKEFILE_LIST)

test: postgres ## gofmt, vet, tests with the race detector, coverage targets
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	@rm -rf coverage && mkdir coverage
	@n=0; for m in $(MODULES); do n=$$((n+1)); echo "== module $$m"; \
		(cd $$m && $(GO) vet ./... && $(GO) test -race -coverprofile=$(CURDIR)/coverage/$$n.out ./...) || exit 1; \
	done
	@$(GO) run ./internal/covergate coverage/*.out

soak: postgres ## kill processes that hold debates for an hour or so: KILLS_EACH at each point, KILLS_RANDOM at random
	@for m in store/sqlite integrations/debateriver; do echo "== module $$m"; \
		(cd $$m && DEBATE_REQUIRE_POSTGRES=1 DEBATE_KILLS_RESTARTS=1 DEBATE_KILLS_EACH=$(KILLS_EACH) DEBATE_KILLS_RANDOM=$(KILLS_RANDOM) \
			$(GO) test -run SurviveKill -count=1 -timeout 6h -v .) || exit 1; \
	done

lint: golangci-lint ## golangci-lint over all modules
	@for m in $(MODULES); do echo "== module $$m"; \
		(cd $$m && $(GOLANGCI) run --config $(CURDIR)/.golangci.yml ./...) || exit 1; \
	done

format: golangci-lint ## rewrite the Go files as the formatters want them
	@for m in $(MODULES); do (cd $$m && $(GOLANGCI) fmt --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

bench: ## benchmarks; BENCH=Next picks some
	@for m in $(MODULES); do (cd $$m && $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...) || exit 1; done

fuzz: ## each fuzz target for FUZZTIME=10s
	@find . -name '*_test.go' -exec grep -Ho '^func Fuzz[A-Za-z0-9_]*' {} + | sed 's/:func / /' | sort | \
	while read -r file target; do \
		(cd "$$(dirname "$$file")" && $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || exit 1; \
	done

generate: ## rewrite golden files and generated docs: the tests with -update
	@for d in $$(find . -name '*_test.go' -exec grep -l '/internal/golden"' {} + | xargs -r -n 1 dirname | sort -u); do \
		(cd $$d && $(GO) test -count=1 . -update) || exit 1; \
	done

postgres: # a server by DATABASE_URL, or the programs to run one
	@[ -n "$$DATABASE_URL" ] || command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "== install PostgreSQL" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	} || echo "PostgreSQL is missing: its tests are skipped, or fail where CI is set. Install its server, or set DATABASE_URL."

golangci-lint:
	@$(GOLANGCI) version 2>/dev/null | grep -q 'version $(GOLANGCI_VERSION:v%=%) ' || { \
		echo "golangci-lint $(GOLANGCI_VERSION) is missing; install it with"; \
		echo "  $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)"; exit 1; }
