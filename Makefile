# Run make help to list the targets. They need Go, make, Git, a C compiler for the race detector, and PostgreSQL. make
# lint and make format also need golangci-lint.

GO       ?= go
GOLANGCI ?= golangci-lint
BENCH    ?= .
FUZZTIME ?= 10s

# The race detector checks this project's code but not SQLite, which is a million lines translated from C, and takes twice as long
# with the race detector. It does not check internal/statistics either, which has no goroutines and simulates for long.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/elenchus-go/debate/internal/statistics=-race=false

KILLS_EACH   ?= 50
KILLS_RANDOM ?= 600

# The version is fixed because each version reports different problems.
GOLANGCI_VERSION := v2.15.0

# The version is fixed because each version has more rules.
AXE_VERSION := 4.14.1

PICTURES ?= $(CURDIR)/coverage/pictures

MODULES := $(sort $(dir $(shell find . -name go.mod -not -path '*/testdata/*')))

# Modules outside of go.work, and what they depend on besides the modules that the root requires.
OUTSIDE        = frameworks dashboard engines compare
dashboard_USES = integrations/debateotel/*.* docs/production.md
engines_USES   = drivetest/* *.go store/*.go internal/step/*.go
compare_USES   = *.go

PATH    := $(PATH):$(shell $(GO) env GOPATH)/bin
export PATH

.DEFAULT_GOAL := help
.PHONY: help test soak kills interruptions intervals cases records scale rescue mutation lint work-sum portable debatevet format bench fuzz generate tidy $(OUTSIDE) $(OUTSIDE:=-changed) outside-changed release-check \
	browser clients npm-clients clients-lock postgres chromium axe golangci-lint

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | while IFS='	' read -r t h; do printf '  make %-19s %s\n' "$$t" "$$h"; done

test: postgres ## check the format, vet, run all tests with the race detector, and check the coverage
	@test -z "$$(gofmt -l .)" || { echo "gofmt these files:"; gofmt -l .; exit 1; }
	@rm -rf coverage && mkdir coverage
	@n=0; for m in $(MODULES); do n=$$((n+1)); echo "== module $$m"; \
		(cd $$m && $(GO) vet ./... && $(GO) test $(RACE) -timeout 20m -coverprofile=$(CURDIR)/coverage/$$n.out ./...) || exit 1; \
	done
	@$(GO) test -v -run TestToolsAndDocumentsCostNothingUnused . | awk '{print} /^--- PASS/ {passed = 1} END {exit !passed}' # counts allocations, which the race detector changes
	@$(GO) run ./internal/covergate coverage/*.out

soak: kills interruptions ## run kills and interruptions

kills: postgres ## kill processes that run debates, KILLS_EACH times per point and KILLS_RANDOM times at random
	@for m in store/sqlite integrations/debateriver; do echo "== module $$m"; \
		(cd $$m && DEBATE_REQUIRE_POSTGRES=1 DEBATE_KILLS_RESTARTS=1 DEBATE_KILLS_EACH=$(KILLS_EACH) DEBATE_KILLS_RANDOM=$(KILLS_RANDOM) \
			$(GO) test -run SurviveKill -count=1 -timeout 6h -v .) || exit 1; \
	done

interruptions: postgres ## interrupt debates in databases at every event and every commit
	@for m in store/sqlite store/postgres; do echo "== module $$m"; \
		(cd $$m && DEBATE_REQUIRE_POSTGRES=1 DEBATE_KILLS_EACH=1 $(GO) test -run Surviv -skip SurviveKill -count=1 -timeout 6h -v .) || exit 1; \
	done

intervals: ## simulate thousands of evaluations, tournaments and analyses, and check how often confidence intervals contain the truth
	@DEBATE_COVERAGE=4000 DEBATE_COVERAGE_RATINGS=400 $(GO) test -run 'TestIntervals.*Cover' -count=1 -timeout 2h -v ./internal/statistics
	@DEBATE_COVERAGE=2000 $(GO) test -run 'TestIntervalsHoldTogether' -count=1 -timeout 1h -v ./influence

cases: ## run the tests of which make test tries one case in four, with all cases
	@DEBATE_ALL_CASES=1 $(GO) test -count=1 -timeout 2h ./internal/forktest ./internal/forgedtest ./internal/faulttest ./internal/enginetest ./report

records: ## change and forge 10,000 records of debates each, and check that verification finds it
	@$(GO) test -run 'Damage|Forged|Hidden' -count=1 -timeout 1h -v ./archive -trials 10000

scale: postgres ## measure stores with a million debates, and a thousand debates at once on River workers; takes half an hour and 10 GB
	@for m in store/sqlite store/postgres integrations/debateriver; do echo "== module $$m"; \
		(cd $$m && DEBATE_SCALE_DEBATES=100000 DEBATE_SCALE_STATUSES=1000000 DEBATE_SCALE_ROUNDS=6250 DEBATE_SCALE_FLEET=1000 \
			$(GO) test -run '^$$' -bench 'Scale|Fleet' -benchtime 3s -timeout 6h .) || exit 1; \
	done

rescue: postgres ## for an hour, measure how long River takes to give the job of a killed worker to another one
	@cd integrations/debateriver && DEBATE_REQUIRE_POSTGRES=1 DEBATE_RESCUE=1 $(GO) test -run TestARescueTakesTheStatedTime -count=1 -timeout 3h -parallel 6 -v .

mutation: ## make small changes to the code of controls and commits, one at a time, and check that the tests notice them
	@$(GO) run ./internal/mutation

lint: golangci-lint portable debatevet work-sum ## run golangci-lint and tools/debatevet in all modules and vet them for Windows and macOS
	@for m in $(MODULES); do echo "== module $$m"; \
		(cd $$m && $(GOLANGCI) run --config $(CURDIR)/.golangci.yml ./...) || exit 1; \
	done

work-sum: ## check that go commands do not change go.work.sum
	@$(GO) doc . >/dev/null && $(GO) list -m all >/dev/null
	@git diff --exit-code go.work.sum || { echo 'go commands change go.work.sum: commit the change'; exit 1; }

portable: ## vet the code and tests of all modules for Windows and macOS
	@for os in windows darwin; do for m in $(MODULES); do echo "== $$os, module $$m"; \
		(cd $$m && CGO_ENABLED=0 GOOS=$$os GOARCH= $(GO) vet ./...) || exit 1; \
	done; done

debatevet: # finds mistakes in the use of this library
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && (cd tools/debatevet && $(GO) build -o "$$tmp/debatevet" .) && \
	for m in $(MODULES); do echo "== debatevet, module $$m"; \
		(cd $$m && $(GO) vet -vettool="$$tmp/debatevet" ./...) || exit 1; \
	done

format: golangci-lint ## format the Go files of all modules
	@for m in $(MODULES); do (cd $$m && $(GOLANGCI) fmt --config $(CURDIR)/.golangci.yml ./...) || exit 1; done

terminal: tmux ## test the live view of cmd/debate in real terminals
	@cd cmd/debate && DEBATE_TERMINAL=1 $(GO) test -run Terminal -count=1 -parallel 16 ./internal/view

pictures: tmux chromium ## take the pictures for README
	@$(GO) run ./internal/terminalpicture docs/images/terminal.svg
	@cd internal/browsertest && DEBATE_BROWSER="$(BROWSER)" DEBATE_README="$(CURDIR)/docs/images/report.png" $(GO) test -count=1 -run Picture .

bench: ## run the benchmarks; BENCH=Next selects benchmarks by name
	@for m in $(MODULES); do (cd $$m && $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...) || exit 1; done

fuzz: ## run each fuzz target for FUZZTIME, 10s by default
	@find . -name '*_test.go' -exec grep -Ho '^func Fuzz[A-Za-z0-9_]*' {} + | sed 's/:func / /' | sort | \
	while read -r file target; do \
		(cd "$$(dirname "$$file")" && $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || exit 1; \
	done

generate: ## rewrite golden files and generated documents by running their tests with -update
	@for d in $$(find . -name '*_test.go' -exec grep -l '/internal/golden"' {} + | xargs -r -n 1 dirname | sort -u); do \
		(cd $$d && $(GO) test -count=1 . -update) || exit 1; \
	done

# Nested modules require each other without replace directives, at versions that may not be published yet. go mod tidy
# ignores go.work, so it works on copies that replace them with this checkout.
tidy: ## run go mod tidy in all modules
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && replace= drop= && \
	for m in $(MODULES); do p=$$(sed -n 's/^module //p' $$m/go.mod); \
		replace="$$replace -replace=$$p=$(CURDIR)/$$m"; drop="$$drop -dropreplace=$$p"; \
	done && \
	for m in $(MODULES); do echo "== module $$m"; \
		cp $$m/go.mod $$m/go.sum $$tmp && $(GO) mod edit $$replace $$tmp/go.mod && \
		(cd $$m && GOWORK=off $(GO) mod tidy -modfile=$$tmp/go.mod) && $(GO) mod edit $$drop $$tmp/go.mod && \
		cp $$tmp/go.mod $$tmp/go.sum $$m || exit 1; \
	done
	@for m in $(OUTSIDE); do (cd testdata/$$m && GOWORK=off $(GO) mod tidy) || exit 1; done

CACHE = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/debate

BROWSER = $$(command -v chromium || command -v chromium-browser || command -v google-chrome)

browser: chromium axe ## test reports and the inspector in Chromium, and take pictures of them
	@cd internal/browsertest && DEBATE_BROWSER="$(BROWSER)" \
		DEBATE_AXE="$(CACHE)/axe-core-$(AXE_VERSION)/package/axe.min.js" DEBATE_PICTURES="$(PICTURES)" \
		$(GO) test -count=1 -timeout 30m .

chromium: # installs Chromium if it can
	@[ -n "$(BROWSER)" ] || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "== install Chromium" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-core >/dev/null; \
	} || { echo "Chromium is missing: install it"; exit 1; }

axe: # downloads axe-core, which tests accessibility
	@[ -f "$(CACHE)/axe-core-$(AXE_VERSION)/package/axe.min.js" ] || { mkdir -p "$(CACHE)/axe-core-$(AXE_VERSION)" && \
		cd "$(CACHE)/axe-core-$(AXE_VERSION)" && npm pack --silent axe-core@$(AXE_VERSION) >/dev/null && tar xzf axe-core-*.tgz package/axe.min.js; } || \
		{ echo "axe-core is missing: install npm"; exit 1; }

CLIENTS = $(CACHE)/clients-$(shell cat internal/clienttest/package-lock.json | cksum | tr ' ' -)

clients: npm-clients ## run clients that others wrote against the HTTP handler and other doors; needs Node 20 or newer, and npm
	@cd internal/clienttest && DEBATE_CLIENTS="$(CLIENTS)" $(GO) test -count=1 -timeout 30m .

npm-clients: # installs the packages of internal/clienttest
	@[ -e "$(CLIENTS)/installed" ] || { command -v npm >/dev/null || { echo "npm is missing: install Node"; exit 1; }; \
		echo "== install clients" && mkdir -p "$(CLIENTS)" && cp internal/clienttest/package*.json "$(CLIENTS)" && \
		cd "$(CLIENTS)" && npm ci --silent --no-audit --no-fund && touch installed; }

clients-lock: ## update internal/clienttest/package-lock.json after a change of package.json
	@cd internal/clienttest && npm install --package-lock-only --omit-lockfile-registry-resolved --silent --no-audit --no-fund

frameworks: ## build and run a program that uses langchaingo, Eino, ADK, Genkit and MCP together with this library
	@cd testdata/frameworks && GOWORK=off $(GO) run .

dashboard: ## run the queries of debateotel's dashboard for Grafana in Prometheus' engine
	@cd testdata/dashboard && GOWORK=off $(GO) test -count=1 .

engines: ## test that Temporal and DBOS drive debates
	@cd testdata/engines && GOWORK=off $(GO) test -count=1 -race -gcflags=modernc.org/sqlite/lib=-race=false .

compare: ## test that testdata/compare does the same work with langgraphgo, Eino, ADK and this library
	@cd testdata/compare && GOWORK=off $(GO) test -count=1 -race .

outside-changed: $(OUTSIDE:=-changed) ## run make frameworks, dashboard, engines and compare unless they have passed here with the same files

$(OUTSIDE:=-changed): %-changed:
	@passed="$(CACHE)/$*-$$(cat go.mod go.sum testdata/$*/* $($*_USES) | cksum | tr ' ' -)"; \
	if [ -e "$$passed" ]; then echo "skipped: make $* has already passed here with the same files"; \
	else $(MAKE) --no-print-directory $* && mkdir -p '$(CACHE)' && touch "$$passed"; fi

release-check: ## pack all modules as for a release and use them from an empty folder, without publishing anything
	@$(GO) run ./internal/release check

postgres: # checks for the server at DATABASE_URL or for PostgreSQL's programs, and installs PostgreSQL if it can
	@[ -n "$$DATABASE_URL" ] || command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "== install PostgreSQL" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	} || echo "PostgreSQL is missing: its tests are skipped, or fail if CI is set. Install its server or set DATABASE_URL."

tmux: # installs tmux if it can
	@command -v tmux >/dev/null || { echo "== install tmux" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tmux >/dev/null; }

golangci-lint:
	@$(GOLANGCI) version 2>/dev/null | grep -q 'version $(GOLANGCI_VERSION:v%=%) ' || { \
		echo "golangci-lint $(GOLANGCI_VERSION) is missing; install it with"; \
		echo "  $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)"; exit 1; }
