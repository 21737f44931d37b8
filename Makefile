# Targets explain themselves: make help. Only Go, make and a C compiler (for the race detector) are needed; make lint and
# make format also need golangci-lint.

GO       ?= go
GOLANGCI ?= golangci-lint
BENCH    ?= .
FUZZTIME ?= 10s

# Pinned, since each version finds other things.
GOLANGCI_VERSION := v2.15.0

MODULES := $(sort $(dir $(shell find . -name go.mod -not -path '*/testdata/*')))
PATH    := $(PATH):$(shell $(GO) env GOPATH)/bin
export PATH

.DEFAULT_GOAL := help
.PHONY: help test lint format bench fuzz generate golangci-lint

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(MAKEFILE_LIST)

test: ## gofmt, vet, tests with the race detector, coverage targets
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	@rm -rf coverage && mkdir coverage
	@n=0; for m in $(MODULES); do n=$$((n+1)); echo "== module $$m"; \
		(cd $$m && $(GO) vet ./... && $(GO) test -race -coverprofile=$(CURDIR)/coverage/$$n.out ./...) || exit 1; \
	done
	@$(GO) run ./internal/covergate coverage/*.out

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
		(cd "$$(dirname "$$file")" && $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) .) || exit 1; \
	done

generate: ## rewrite golden files and generated docs: the tests with -update
	@for d in $$(find . -name '*_test.go' -exec grep -lE 'flag\.Bool(Var)?\(.*"update"' {} + | xargs -r -n 1 dirname | sort -u); do \
		(cd $$d && $(GO) test -count=1 . -update) || exit 1; \
	done

golangci-lint:
	@$(GOLANGCI) version 2>/dev/null | grep -q 'version $(GOLANGCI_VERSION:v%=%) ' || { \
		echo "golangci-lint $(GOLANGCI_VERSION) is missing; install it with"; \
		echo "  $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)"; exit 1; }
