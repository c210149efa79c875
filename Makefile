# sealab: the laboratory for sealed-token codecs.
# `make bench` measures and `make test` tests. Both need Go, and make test a C compiler.

GO ?= go

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { \
		line = sprintf("%-16s", $$1); n = split($$2, words, " "); \
		for (i = 1; i <= n; i++) { \
			if (length(line) + length(words[i]) >= 80) { print line; line = sprintf("%-16s", "") } \
			line = line " " words[i] \
		} \
		print line }' $(MAKEFILE_LIST)

# Results name the commit that they were measured at, if git is available.
BUILDVCS := $(shell git status >/dev/null 2>&1 && echo true || echo false)

.PHONY: bin/sealab
bin/sealab:
	$(GO) build -buildvcs=$(BUILDVCS) -o $@ ./cmd/sealab

.PHONY: bench
bench: bin/sealab ## measure everything into results/bench, print a summary (BENCHFLAGS: see sealab bench -h)
	bin/sealab bench $(BENCHFLAGS)

.PHONY: quote
quote: ## quote a run in bench/README.md: RUN=results/bench/..., by default the newest
	$(GO) test -count=1 -run '^TestFigures$$' ./cmd/sealab -args -quote $(RUN)
quote: RUN ?= $(lastword $(sort $(wildcard results/bench/*)))

.PHONY: compare
compare: bin/sealab ## compare two runs: OLD=results/bench/... NEW=results/bench/..., by default the newest two
	bin/sealab compare $(OLD) $(NEW)

.PHONY: site
site: bin/sealab ## write the committed results as pages to bin/site
	rm -rf bin/site && bin/sealab site --vectors vectors/files --out bin/site

.PHONY: site-test
site-test: site ## test every page of the site in Chromium, light and dark; screenshots go to bin/screenshots
	$(GO) test -count=1 -v -timeout 0 -run Browser ./analysis/site -args -site $(CURDIR)/bin/site -every-page -screenshots $(CURDIR)/bin/screenshots

# The file of skipped tests, one per line. make test prints it at the end.
SKIPPED := $(CURDIR)/bin/skipped

VERSION ?= v0.2.0

.PHONY: release
release: ## build archives of VERSION (v0.2.0) for all platforms, vectors, site, checksums and SBOM into bin/release
	GO=$(GO) .ci/release $(VERSION)

.PHONY: release-test
release-test: ## build the release in two folders, compare the bytes and run each archive; takes minutes
	$(GO) test -count=1 -v -timeout 0 -run TestRelease ./cmd/sealab -args -release

# make lint runs all analyzers of go vet, so go test need not run some of them again.
# The packages with the longest tests come first, so that no core waits for them.
.PHONY: test
test: ## run every test with the race detector, large matrices by samples
	@mkdir -p bin && rm -f $(SKIPPED)
	GORACE=atexit_sleep_ms=0 SEALAB_SKIPPED=$(SKIPPED) $(GO) test -race -vet=off -timeout 30m ./fuzz/review ./fuzz/attack/attacks ./cmd/sealab ./...
	$(GO) test -tags purego ./codecs/internal/base64url ./codecs/internal/rawjson
	@grep -v 'make matrices runs' $(SKIPPED) 2>/dev/null | sort -u || true
	@if [ -f $(SKIPPED) ]; then echo "skipped: $$(grep -c 'make matrices runs' $(SKIPPED)) tests that are slow or allocate more under the race detector: make matrices runs them"; fi

.PHONY: matrices
matrices: ## run every test whole, without the race detector: minutes
	@mkdir -p bin && rm -f $(SKIPPED)
	SEALAB_SKIPPED=$(SKIPPED) $(GO) test -vet=off -timeout 30m ./fuzz/review ./fuzz/attack/attacks ./cmd/sealab ./...
	@sort -u $(SKIPPED) 2>/dev/null || true

.PHONY: portable
portable: ## test the designs and generate their vectors on GOARCH=386 and without assembly
	CGO_ENABLED=0 GOARCH=386 $(GO) test -short ./codecs/... ./internal/lab
	CGO_ENABLED=0 $(GO) test -short -tags purego ./codecs/... ./internal/lab
	CGO_ENABLED=0 GOARCH=386 $(GO) test -run TestCommittedFilesAreTheGenerated ./vectors/generate
	CGO_ENABLED=0 $(GO) test -tags purego -run TestCommittedFilesAreTheGenerated ./vectors/generate

.PHONY: taint
taint: ## compare each design with its expected outcome under valgrind; takes some minutes
	$(GO) test -count=1 -timeout 0 -run '^TestTaintOutcomes$$' ./cmd/sealab -args -taint

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

.PHONY: cross
cross: ## check the types of every package and test for windows, darwin and freebsd on amd64 and arm64
	$(GO) test -count=1 -v -timeout 0 -run '^TestTypesOf' ./internal/architecture -args -cross

.PHONY: fmt
fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: sdks
sdks: ## install the SDKs and token libraries that run as workers
	@set -e; for install in codecs/sdk/*/install; do $$install; done
	$(GO) run ./cmd/sealab list --sdks

.PHONY: sdk-versions
sdk-versions: ## install released versions of SDKs for sealab fuzz versions; takes minutes
	@codecs/sdk/versions/install

.PHONY: cve-install
cve-install: bin/sealab ## install token libraries with known vulnerabilities below bin/cve
	bin/sealab cve install

.PHONY: cve
cve: cve-install ## attack the vulnerable and the fixed versions; writes results/cve
	bin/sealab cve run --journal bin/cve/journal.jsonl --out results $(CVEFLAGS)

.PHONY: review-sound
review-sound: ## review 200 sound servers: no check may accuse one
	$(GO) test ./fuzz/review -run TestManySound -parallel 8 -timeout 60m -args -sound 200

.PHONY: review-matrix
review-matrix: ## run every check on every broken server
	$(GO) test ./fuzz/review -run 'TestMatrix$$|TestControls|TestSound' -parallel 4 -timeout 60m -args -all

.PHONY: review-answers
review-answers: review-servers ## send every request of the matrices to the installed servers
	$(GO) test ./fuzz/review -run 'TestTransportMatrix|TestLegacyMatrix' -v -args -hold 12s

.PHONY: review-servers
review-servers: ## install the servers that sealab review is tested on
	@set -e; for install in fuzz/review/testdata/servers/*/install; do $$install; done

.PHONY: conformance
conformance: ## run the official conformance suite of MCP against the example server
	cmd/mcpserver/conformance/install
	$(GO) test -count=1 -v -run TestConformance ./cmd/mcpserver/example

.PHONY: mutations
mutations: ## send 10,000 mutated requestState values to the example server
	$(GO) test -count=1 -v -run TestMutations ./cmd/mcpserver/example -mutations 10000

.PHONY: vectors
vectors: ## generate the test vectors of every design, bit for bit
	$(GO) run ./cmd/sealab vectors generate

.PHONY: vectors-digests
vectors-digests: ## compare digests over 10,000 inputs of each design with the committed ones
	$(GO) test -count=1 -timeout 0 -run TestCommittedDigests ./vectors/generate -args -digests 10000

.PHONY: vectors-million
vectors-million: ## generate the vectors with digests over a million inputs; takes minutes
	$(GO) run ./cmd/sealab vectors generate --accumulate 1000000

.PHONY: mutate
mutate: ## disable each check of the designs in turn: a vector must fail
	$(GO) run ./cmd/sealab vectors mutate

.PHONY: consumers
consumers: ## install and run the consumers of the vectors in other languages
	@for run in vectors/consumers/*/run; do echo "$$run"; $$run || exit 1; done

.PHONY: vectors-dist
vectors-dist: ## pack the vectors, schemas and consumers
	$(GO) run ./cmd/sealab vectors dist

.PHONY: differential
differential: bin/sealab ## compare each installed SDK with its design, in both directions
	@bin/sealab list --sdks | grep -v 'mirrors no design' | grep -v ' skipped: ' >bin/compared || \
		echo "skipped: no SDK or library that has its design here is installed: make sdks"
	! grep -q ' mirrors ' bin/compared || bin/sealab fuzz differential
	! test -s bin/compared || bin/sealab fuzz differential --libraries --edges --count 3000 --seed 1
	$(GO) test -count=1 -v -run TestAgainstPython ./codecs/internal/compactjson -args -documents 100000

.PHONY: reproducers
reproducers: ## run the one-line reproducers of faults in installed libraries
	$(GO) test -count=1 -v -run TestReproducers ./codecs/sdk -args -reproducers

# The folder of timing samples. To continue a run that was stopped, make the same
# target on the same day and commit.
LEAK = results/timing/$(shell date -u +%Y%m%dT000000Z)-$(shell git rev-parse --short=10 HEAD)

.PHONY: leak
leak: bin/sealab ## look for timing leaks in every design; takes most of an hour
	bin/sealab leak probe $(LEAK)
	@status=0; bin/sealab leak taint $(LEAK) || status=$$?; \
	bin/sealab leak judge $(LEAK) || status=$$?; \
	bin/sealab leak report $(LEAK) && exit $$status

.PHONY: leak-long
leak-long: bin/sealab ## make leak with ten times the samples, without valgrind; takes some hours
	bin/sealab leak probe --blocks 1000000 --budget 20s $(LEAK)-long
	@status=0; bin/sealab leak judge $(LEAK)-long || status=$$?; \
	bin/sealab leak report $(LEAK)-long && exit $$status

.PHONY: leak-ladder
leak-ladder: bin/sealab ## measure five times the smallest delay that this machine can see
	@for i in 1 2 3 4 5; do \
	bin/sealab leak probe --set ladder --seed $$i $(LEAK)-ladder-$$i && bin/sealab leak judge $(LEAK)-ladder-$$i || exit 1; done

.PHONY: leak-alike
leak-alike: bin/sealab ## measure 200 pairs without a leak: the p-values must be uniform
	bin/sealab leak probe --set alike --blocks 10000 $(LEAK)-alike
	bin/sealab leak judge $(LEAK)-alike

.PHONY: leak-remote
leak-remote: bin/sealab ## look for timing leaks in the example server over HTTP, limit 100 ns
	@bin/sealab serve --http localhost:18080 2>/dev/null & server=$$!; trap 'kill $$server' EXIT; sleep 1; \
	bin/sealab leak probe --set remote --url http://localhost:18080/mcp --budget 20s $(LEAK)-remote && \
	bin/sealab leak judge --limit 100 $(LEAK)-remote && bin/sealab leak report $(LEAK)-remote

# A campaign continues the last one in FUZZDIR.
FUZZTIME ?= 5m
FUZZDIR ?= fuzz-campaign
KILLS ?= 100

.PHONY: fuzz
fuzz: bin/sealab ## fuzz all targets for FUZZTIME (5m) in FUZZDIR; print coverage and failures
	status=0; bin/sealab fuzz run --for $(FUZZTIME) --dir $(FUZZDIR) $(FUZZFLAGS) || status=$$?; \
	test $$status -gt 1 || bin/sealab fuzz cover --dir $(FUZZDIR) || status=$$?; exit $$status

.PHONY: fuzz-report
fuzz-report: bin/sealab ## write the results of the campaign in FUZZDIR to results/fuzz
	bin/sealab fuzz report --dir $(FUZZDIR) --out results

.PHONY: fuzz-kill
fuzz-kill: ## kill a campaign KILLS (100) times and check that no finding is lost
	$(GO) test -count=1 -v -timeout 0 -run TestKill ./fuzz/campaign -args -kills $(KILLS) -kill-injected

FLEETDIR := $(CURDIR)/bin/fuzz-fleet

.PHONY: fuzz-fleet
fuzz-fleet: ## test go-fuzz on two workers: find an injected bug, kill one, import
	rm -rf $(FLEETDIR)
	$(GO) test -count=1 -v -timeout 0 -run '^TestFleet$$' ./fuzz/campaign -args -fleet-dir $(FLEETDIR)

# Targets that start other programs or wait for them run fewer inputs.
FUZZ_CI_COUNT ?= 20000
FUZZ_CI_COUNT_PROGRAMS ?= 500
FUZZ_CI_PROGRAMS := FuzzAnswers FuzzPython FuzzSdks

.PHONY: fuzz-ci
fuzz-ci: ## run every fuzz target for FUZZ_CI_COUNT executions
	$(GO) test -c -fuzz=. -o bin/fuzz.test ./fuzz/targets
	@cd fuzz/targets && targets=$$(../../bin/fuzz.test -test.list '^Fuzz') && test -n "$$targets" && \
	for target in $$targets; do \
		count=$(FUZZ_CI_COUNT); \
		case " $(FUZZ_CI_PROGRAMS) " in *" $$target "*) count=$(FUZZ_CI_COUNT_PROGRAMS);; esac; \
		echo "$$target $${count}x"; \
		../../bin/fuzz.test -test.run='^$$' -test.fuzz="^$$target\$$" -test.fuzztime=$${count}x \
			-test.fuzzcachedir=../../bin/fuzz-ci >../../bin/fuzz-ci.log 2>&1 || { cat ../../bin/fuzz-ci.log; exit 1; }; \
		grep '^skipped' ../../bin/fuzz-ci.log || tail -n 2 ../../bin/fuzz-ci.log; \
	done

TARGET ?= text

.PHONY: gofuzz
gofuzz: bin/sealab ## fuzz TARGET (text) with go-fuzz in bin/gofuzz until an interrupt
	bin/sealab fuzz fleet $(TARGET) --dir bin/gofuzz/$(TARGET)
	bin/gofuzz/$(TARGET)/go-fuzz -bin bin/gofuzz/$(TARGET)/archive.zip -workdir bin/gofuzz/$(TARGET)/work

LIBFUZZTIME ?= 60

.PHONY: libfuzzer
libfuzzer: ## build as OSS-Fuzz does and run each target for LIBFUZZTIME (60) seconds; needs clang
	$(GO) test -count=1 -v -timeout 0 -run TestLibFuzzer ./fuzz/targets/gofuzz -args -libfuzzer $(LIBFUZZTIME)

.PHONY: fuzz-experiment
fuzz-experiment: ## measure how soon fuzzers find injected bugs; writes results (EXPERIMENTFLAGS: see fuzz/experiment)
	$(GO) test -count=1 -v -timeout 0 -run TestExperiment ./fuzz/experiment -args -experiment -out $(CURDIR)/results/experiment/$(shell date -u +%Y%m%dT%H%M%SZ)-$(shell git rev-parse --short=10 HEAD) $(EXPERIMENTFLAGS)

.PHONY: attack
attack: bin/sealab ## attack every design, the installed SDKs and the Go libraries; writes results/attack
	bin/sealab attack --sdks --libraries --out results $(ATTACKFLAGS)

# The newest run of attacks that has verdicts. Verdicts are not committed.
WORLD_ATTACKS = $(patsubst %/verdicts.json,--attacks %,$(lastword $(sort $(wildcard results/attack/*/verdicts.json))))

.PHONY: world
world: bin/sealab ## compare the formats of all designs, SDKs and libraries; writes results/world
	bin/sealab compare-formats --sdks --libraries $(WORLD_ATTACKS) --out results

# Seeds for sound designs: an attack that refutes a claimed guarantee of one is wrong.
SEEDS ?= 1000
CORPUS ?= all
FROM ?= 1

.PHONY: attack-corpus
attack-corpus: ## attack the corpus of broken and sound workers; takes an hour; CORPUS=NAME,... for some, CORPUSFLAGS=-corpus-own for their own attacks alone
	$(GO) test -count=1 -v -timeout 0 -run '^TestCorpus$$' ./fuzz/attack/attacks -args -corpus $(CORPUS) $(CORPUSFLAGS)

.PHONY: attack-seeds
attack-seeds: ## attack every design under SEEDS (1000) seeds: no claimed guarantee may fall; half a minute a seed
	$(GO) test -count=1 -v -timeout 0 -run '^TestSoundDesignsStand$$' ./fuzz/attack/attacks -args -seeds $(SEEDS) -from $(FROM) $(SEEDFLAGS)

.PHONY: fast-paths
fast-paths: ## compare fast and slow readers of claims a million times; open ten million tokens in flat memory
	$(GO) test -count=1 -v -timeout 0 -run '^(TestBothReadingsAgree|TestMemoryStaysFlat)$$' ./codecs/mcppy -args -payloads 1000000 -tokens 10000000
	$(GO) test -count=1 -v -timeout 0 -run '^TestAppendPlainOfRandomDocuments$$' ./codecs/internal/compactjson -args -plain 1000000

.PHONY: share
share: bin/sealab ## measure the share of the boundary in a request, and SDKs beside their designs (make sdks first)
	$(GO) test -count=1 -v -run '^TestShareOfTheRequest$$' ./codecs/boundary/gosdk -args -share 5000
	bin/sealab bench --subject mcp-ts-sdk,mcp-ts-faithful,mcp-py-sdk,mcp-py-faithful --op seal,unseal --size 64,1024 --out bin

.PHONY: attack-controls
attack-controls: ## attack every negative control under SEEDS (1000) seeds: each attack must find its own; SEEDFLAGS='-only TAG' for a family
	$(GO) test -count=1 -v -timeout 0 -run '^(TestControlsFallByNoChance|TestBareControlsFall|TestBareDesignsStand)$$' ./fuzz/attack/attacks -args -seeds $(SEEDS) -from $(FROM) $(SEEDFLAGS)
