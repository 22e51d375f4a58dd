# make help lists what there is.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# -mod=readonly: a build never edits go.mod. -buildvcs=false: the version comes
# from -ldflags, and a checkout that another user owns builds too.
export GOFLAGS := -mod=readonly -buildvcs=false
export GOWORK := off

MODULE  := github.com/dnsteer/dnsteer
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The commit's time, not the clock's, so that the same sources give the same bytes.
DATE    ?= $(shell \
	if [ -n "$${SOURCE_DATE_EPOCH:-}" ]; then date -u -d "@$$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ; \
	else TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || true; fi)
LDFLAGS := -s -w -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Date=$(DATE)

# A linter refuses sources of a Go newer than the one that it was built with.
TOOLS     := .tools/built-by-$(shell go env GOVERSION)

PKG       ?= ./...
BENCH     ?= .
BENCHTIME ?= 1s
FUZZTIME  ?= 30s
ONLY      ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile
	@echo
	@echo "  PKG=$(PKG) BENCH=$(BENCH) BENCHTIME=$(BENCHTIME) FUZZTIME=$(FUZZTIME) narrow or widen test, bench, fuzz and cover."

.PHONY: build
build: ## bin/dnsteer, one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/dnsteer ./cmd/dnsteer

.PHONY: check
check: format vet systems lint tidy rules vulnerabilities ## everything that is judged without running the program
	@echo "check: nothing found"

.PHONY: test
test: ## every test with the race detector; installs what the tests need
	@.ci/test $(PKG)

# Everything for two more processors is built for it, which is what takes long.
CROSS := ^Test(Boot|Judge|Serve$$|Wildcard|ManyAtOnce|TurnSource|RefusedAnswer|FaultOfABatch|ReloadOfAddresses|Choose|ICMP|NetworkFaults)

.PHONY: cross-test
cross-test: ## what differs by processor (clocks, sockets, echo requests), for 64-bit and 32-bit ARM, by qemu-user
	@.ci/packages qemu-aarch64:qemu-user
	GOARCH=arm64 CGO_ENABLED=0 go test -count=1 -exec qemu-aarch64 -run '$(CROSS)' ./internal/clock ./dnsserver ./probes
	GOARCH=arm GOARM=6 CGO_ENABLED=0 go test -count=1 -exec qemu-arm -run '$(CROSS)' ./internal/clock ./dnsserver ./probes

# What takes too long for every day. DAYS of the simulation, STATES of each small
# world of the rules, SOAK of real networks.
DAYS   ?= 100000
STATES ?= 300000
SOAK   ?= 30m

.PHONY: soak
soak: ## hours: DAYS simulated days, STATES of the rules explored, 500 kills of the store, 1,000 reloads under load, SOAK of faults in real networks (takes root), planted bugs
	DNSTEER_KILLS=500 go test -count=1 -timeout 0 -v -run '^TestKills$$' ./internal/store
	DNSTEER_DAYS=$(DAYS) CGO_ENABLED=0 go test -count=1 -timeout 0 -v -run '^TestDays$$' ./internal/simulation
	DNSTEER_RELOADS=1000 DNSTEER_RATE=20000 DNSTEER_CLIENTS=32 CGO_ENABLED=0 go test -count=1 -timeout 0 -v -run '^TestReloadsUnderLoad$$' ./internal/app
	DNSTEER_STATES=$(STATES) CGO_ENABLED=0 go test -count=1 -timeout 0 -v -run '^TestEveryState$$' ./sites
	DNSTEER_SOAK=$(SOAK) CGO_ENABLED=0 go test -count=1 -timeout 0 -v -run '^TestSoak$$' ./internal/realnet
	@$(MAKE) mutants

.PHONY: mutants
mutants: ## a quarter of an hour: plants each bug of internal/simulation/testdata/mutants, which the simulation must see
	DNSTEER_MUTANTS=1 CGO_ENABLED=0 go test -count=1 -timeout 0 -v -run '^TestMutants$$' ./internal/simulation

.PHONY: bench
bench: ## the benchmarks
	go test -run='^$$' -bench='$(BENCH)' -benchtime=$(BENCHTIME) -benchmem $(PKG)

.PHONY: bench-dns
bench-dns: build ## our DNS server beside others that are installed: q/s, CPU per answer, latency, memory
	@go run ./internal/benchdns -ours bin/dnsteer $(BENCHDNS)

.PHONY: bench-scale
bench-scale: build ## four minutes: the program with 100 to 10,000 nodes: start, reload, decisions, probes, memory
	@go run ./internal/benchscale -ours bin/dnsteer $(BENCHSCALE)

.PHONY: bench-count
bench-count: ## three minutes: names what of a check grows faster than its configuration, by counting
	go run ./internal/benchscale -count

.PHONY: screenshots
screenshots: ## pictures of every screen of the dashboard, phone and desktop, light and dark, in bin/screenshots
	@.ci/packages
	go test -count=1 ./cmd/dnsteer/demo -run '^TestScreens$$' -args -pictures $(CURDIR)/bin/screenshots

.PHONY: package
package: ## what a release has, in dist: archives, deb, rpm, SBOMs, checksums; ONLY=linux/amd64 for one system
	@go run ./internal/release -version '$(VERSION)' -date '$(DATE)' -only '$(ONLY)' all
	@ls -l dist

.PHONY: package-test
package-test: ## the life of packages and image on a machine, told step by step; fails where a step of it cannot be tested
	@.ci/packages
	go test -count=1 -v ./internal/release -run '^Test(Packages|Image)$$' -args -everything

# podman keeps the health check in that format alone; docker knows no other.
.PHONY: image
image: ## the container's image, dnsteer, by podman or docker; needs no registry; ONLY=linux/arm64 for another processor
	@go run ./internal/release -version '$(VERSION)' -date '$(DATE)' -only '$(ONLY)' image
	@if command -v podman >/dev/null; then build="podman build --format docker --timestamp $$(date -d '$(DATE)' +%s)"; \
	elif command -v docker >/dev/null; then build='docker build'; \
	else echo 'image: neither podman nor docker is here, and one of them builds it' >&2; exit 1; fi; \
	$$build --platform '$(or $(ONLY),linux/$(shell go env GOARCH))' -f deploy/Containerfile -t dnsteer bin/image

.PHONY: fuzz
fuzz: ## every fuzz target, for FUZZTIME each
	@.ci/fuzz $(FUZZTIME)

.PHONY: cover
cover: ## statement coverage by package, and cover.out for go tool cover -html
	go test -coverprofile=cover.out $(PKG)
	@go tool cover -func=cover.out | tail -n 1

.PHONY: generate
generate: ## write generated files and golden files anew; read the diff before you commit it
	go generate ./...
	@{ grep -rlE --include='*_test.go' 'flag\.Bool\("update"' . || true; } | xargs -r -n 1 dirname | sort -u | xargs -r -I{} go test {} -update

.PHONY: licenses
licenses: ## the modules that are linked, with their licences
	@go run ./internal/licenses ./cmd/...

# The parts of check.

.PHONY: format
format: $(TOOLS)
	@d=$$(.tools/gofumpt -d . || true); if [ -n "$$d" ]; then echo "$$d"; echo 'format: make fmt mends this'; exit 1; fi

.PHONY: fmt
fmt: $(TOOLS) ## format the sources
	.tools/golangci-lint fmt

.PHONY: vet
vet:
	go vet ./...

# The sources that differ by system, and their tests, are there for all of them.
.PHONY: systems
systems:
	@go run ./internal/systems

.PHONY: lint
lint: $(TOOLS) ## golangci-lint with .golangci.yml
	.tools/golangci-lint run ./...

.PHONY: tidy
tidy:
	go mod tidy -diff

.PHONY: rules
rules: ## the rules that hold for the whole tree: imports, sizes, words, links, licences
	go test -count=1 ./internal/archtest ./internal/licenses

.PHONY: vulnerabilities
vulnerabilities: $(TOOLS)
	@.ci/vulnerabilities .tools/govulncheck

# The tools have a module of their own, so that go.mod stays the product's.
$(TOOLS): tools/go.mod tools/go.sum tools/nfpm/go.mod tools/nfpm/go.sum
	@rm -rf .tools && mkdir -p .tools
	@echo "building golangci-lint, gofumpt, govulncheck and nfpm: minutes the first time"
	@cd tools && go build -trimpath -o ../.tools/ tool
	@cd tools/nfpm && go build -trimpath -o ../../.tools/ tool
	@touch $@

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist .tools cover.out
