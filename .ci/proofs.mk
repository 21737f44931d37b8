# The parts of make proofs. Each takes minutes to hours, so a nightly workflow runs them.

PROOFS := $(addprefix proof-,race cases coverage fuzz portable kills interruptions records intervals scale rescue \
	clients agents browser sarif terminal engines dashboard compare frameworks)

.PHONY: $(PROOFS) outside-changed clients-lock npm-clients npm-agents sarif pictures chromium axe tmux

KILLS_EACH   ?= 50
KILLS_RANDOM ?= 600

proof-race: postgres # the race detector over all packages
	@GORACE=atexit_sleep_ms=0 $(GO) test -vet=off $(RACEFLAGS) -timeout 40m $(PACKAGES)

proof-cases: postgres # all cases of explorations, of which make test tries a sample
	@DEBATE_ALL_CASES=1 $(GO) test -vet=off -count=1 -timeout 3h ./... ./store/sqlite/... ./store/postgres/... ./integrations/debateriver/...

proof-coverage: postgres # the share of statements that tests run
	@rm -rf coverage && mkdir coverage
	@$(GO) test -vet=off -timeout 20m -coverprofile=coverage/all.out $(PACKAGES)
	@.ci/coverage coverage/all.out

proof-fuzz: # each fuzz target for FUZZTIME; with FUZZMOST=10, ten of them that the seed chooses
	@find . -name '*_test.go' -exec grep -Ho '^func Fuzz[A-Za-z0-9_]*' {} + | sed 's/:func / /' | sort | \
	while read -r file target; do \
		echo "$$(echo "$(DEBATE_SEED) $$target" | cksum) $$file $$target"; \
	done | $(if $(FUZZMOST),sort -n | head -n $(FUZZMOST),cat) | \
	while read -r _ _ file target; do \
		(cd "$$(dirname "$$file")" && $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || exit 1; \
	done

proof-portable: # code and tests compile for Windows and macOS
	@for os in windows darwin; do echo "== $$os"; CGO_ENABLED=0 GOOS=$$os GOARCH= $(GO) vet $(PACKAGES) || exit 1; done

proof-kills: postgres # processes that run debates are killed, KILLS_EACH times per point and KILLS_RANDOM times at random
	@for m in store/sqlite integrations/debateriver; do echo "== module $$m"; \
		(cd $$m && DEBATE_REQUIRE_POSTGRES=1 DEBATE_KILLS_RESTARTS=1 DEBATE_KILLS_EACH=$(KILLS_EACH) DEBATE_KILLS_RANDOM=$(KILLS_RANDOM) \
			$(GO) test -run SurviveKill -count=1 -timeout 6h -v .) || exit 1; \
	done

proof-interruptions: postgres # debates in databases are interrupted at each event and each commit
	@for m in store/sqlite store/postgres; do echo "== module $$m"; \
		(cd $$m && DEBATE_REQUIRE_POSTGRES=1 DEBATE_ALL_CASES=1 $(GO) test -run Surviv -skip SurviveKill -count=1 -timeout 6h -v .) || exit 1; \
	done

proof-records: # 10,000 records are changed and 10,000 forged, and verification finds each
	@$(GO) test -run 'Damage|Forged|Hidden' -count=1 -timeout 1h -v ./report/archive -trials 10000

proof-intervals: # thousands of evaluations, tournaments and analyses: how often intervals contain the truth
	@DEBATE_COVERAGE=4000 DEBATE_COVERAGE_RATINGS=400 $(GO) test -run 'TestIntervals.*Cover' -count=1 -timeout 2h -v ./internal/statistics
	@DEBATE_COVERAGE=2000 $(GO) test -run 'TestIntervalsHoldTogether' -count=1 -timeout 1h -v ./eval/influence

proof-scale: postgres # stores with a million debates, and a thousand debates at once on River; half an hour and 10 GB
	@for m in store/sqlite store/postgres integrations/debateriver; do echo "== module $$m"; \
		(cd $$m && DEBATE_SCALE_DEBATES=100000 DEBATE_SCALE_STATUSES=1000000 DEBATE_SCALE_ROUNDS=6250 DEBATE_SCALE_FLEET=1000 \
			$(GO) test -run '^$$' -bench 'Scale|Fleet' -benchtime 3s -timeout 6h .) || exit 1; \
	done

proof-rescue: postgres # how long River takes to give the job of a killed worker to another one; an hour
	@cd integrations/debateriver && DEBATE_REQUIRE_POSTGRES=1 DEBATE_RESCUE=1 $(GO) test -run TestARescueTakesTheStatedTime -count=1 -timeout 3h -parallel 6 -v .

proof-terminal: tmux # the command's live view in real terminals
	@cd cmd/debate && DEBATE_TERMINAL=1 $(GO) test -run Terminal -count=1 -parallel 16 ./internal/view

# The parts below use what others wrote. Their module is outside of go.work, because its many dependencies would raise versions
# there.
OUTSIDE = cd internal/outside && GOWORK=off

proof-engines: # Temporal and DBOS drive debates
	@$(OUTSIDE) $(GO) test -count=1 -race -gcflags=modernc.org/sqlite/lib=-race=false ./engines

proof-dashboard: # the queries of debateotel's dashboard in Prometheus' engine
	@$(OUTSIDE) $(GO) test -count=1 ./dashboard

proof-compare: # langgraphgo, Eino, ADK and this library do the same work
	@$(OUTSIDE) $(GO) test -count=1 -race ./compare

proof-frameworks: # a program uses langchaingo, Eino, ADK, Genkit and MCP together with this library
	@$(OUTSIDE) $(GO) run ./frameworks

# Runs the four parts above unless they have passed here with the same files.
outside-changed:
	@passed="$(CACHE)/outside-$$(git ls-files -s '*.go' '*go.mod' internal/outside integrations/debateotel docs | cksum | tr ' ' -)"; \
	if [ -e "$$passed" ]; then echo "skipped: these parts have passed here with the same files"; \
	else $(MAKE) --no-print-directory proof-engines proof-dashboard proof-compare proof-frameworks && \
		mkdir -p '$(CACHE)' && touch "$$passed"; fi

BROWSER     = $$(command -v chromium || command -v chromium-browser || command -v google-chrome)
PICTURES   ?= $(CURDIR)/coverage/pictures
# The version is fixed because each version has more rules.
AXE_VERSION = 4.14.1
AXE         = $(CACHE)/axe-core-$(AXE_VERSION)

proof-browser: chromium axe # reports and the inspector in Chromium, with pictures of them in PICTURES; needs npm
	@$(OUTSIDE) DEBATE_BROWSER="$(BROWSER)" DEBATE_AXE="$(AXE)/package/axe.min.js" DEBATE_PICTURES="$(PICTURES)" \
		$(GO) test -count=1 -timeout 60m ./browser

# The version is fixed because each version has more rules. The file names its platform, and is a program without dependencies.
SARIF_VERSION = 5.7.0
SARIF         = $(CACHE)/sarif-multitool-$(SARIF_VERSION)/package/Sarif.Multitool

proof-sarif: sarif # what --sarif writes in Microsoft's validator; needs Linux and npm
	@cd cmd/debate && DEBATE_SARIF_VALIDATOR="$(SARIF)" $(GO) test -vet=off -count=1 -run '^TestSARIF' .

CLIENTS = $(CACHE)/clients-$(shell cksum <internal/outside/clients/package-lock.json | tr ' ' -)

proof-clients: npm-clients # clients that others wrote, in Node and Go, use the HTTP handler and other doors; needs Node 20 and npm
	@$(OUTSIDE) DEBATE_CLIENTS="$(CLIENTS)" $(GO) test -count=1 -timeout 30m ./clients

npm-clients: # installs the packages of internal/outside/clients
	@[ -e "$(CLIENTS)/installed" ] || { command -v npm >/dev/null || { echo "npm is missing: install Node"; exit 1; }; \
		echo "== install clients" && mkdir -p "$(CLIENTS)" && cp internal/outside/clients/package*.json "$(CLIENTS)" && \
		cd "$(CLIENTS)" && npm ci --silent --no-audit --no-fund && touch installed; }

AGENTS = $(CACHE)/agents-$(shell cksum <internal/outside/agents/package-lock.json | tr ' ' -)

proof-agents: npm-agents # Claude Code, Codex, Gemini CLI and OpenCode debate with a model on this machine; needs Node 20, npm and 2 GB
	@cd cmd/debate && DEBATE_AGENTS=1 DEBATE_AGENTS_BIN="$(AGENTS)/node_modules/.bin" \
		$(GO) test -vet=off -v -run '^TestAgents' -count=1 -timeout 60m .

npm-agents: # installs the packages of internal/outside/agents
	@[ -e "$(AGENTS)/installed" ] || { command -v npm >/dev/null || { echo "npm is missing: install Node"; exit 1; }; \
		echo "== install agents" && mkdir -p "$(AGENTS)" && cp internal/outside/agents/package*.json "$(AGENTS)" && \
		cd "$(AGENTS)" && npm ci --silent --no-audit --no-fund && touch installed; }
	@cd "$(AGENTS)/node_modules" && [ ! -e opencode-linux-x64 ] || ln -sf ../opencode-linux-x64/bin/opencode .bin/opencode

clients-lock: # updates package-lock.json after a change of package.json
	@cd internal/outside/clients && npm install --package-lock-only --omit-lockfile-registry-resolved --silent --no-audit --no-fund

pictures: tmux chromium # takes the pictures of README
	@.ci/terminal-picture docs/images/terminal.svg
	@$(OUTSIDE) DEBATE_BROWSER="$(BROWSER)" DEBATE_README="$(CURDIR)/docs/images/report.png" $(GO) test -count=1 -run Picture ./browser

chromium: # installs Chromium if it can
	@[ -n "$(BROWSER)" ] || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "== install Chromium" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-core >/dev/null; \
	} || { echo "Chromium is missing: install it"; exit 1; }

axe: # downloads axe-core, which tests accessibility
	@[ -f "$(AXE)/package/axe.min.js" ] || { mkdir -p "$(AXE)" && cd "$(AXE)" && \
		npm pack --silent axe-core@$(AXE_VERSION) >/dev/null && tar xzf axe-core-*.tgz package/axe.min.js; } || \
		{ echo "axe-core is missing: install npm"; exit 1; }

sarif: # downloads Microsoft's validator of SARIF
	@[ -x "$(SARIF)" ] || { mkdir -p "$(dir $(SARIF))" && cd "$(dir $(SARIF)).." && \
		npm pack --silent @microsoft/sarif-multitool-linux@$(SARIF_VERSION) >/dev/null && tar xzf microsoft-sarif-*.tgz && \
		rm microsoft-sarif-*.tgz && chmod u+x "$(SARIF)"; } || { echo "the validator of SARIF is missing: install npm"; exit 1; }

tmux: # installs tmux if it can
	@command -v tmux >/dev/null || { echo "== install tmux" && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tmux >/dev/null; }
