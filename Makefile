# sealab: the laboratory for sealed-token codecs.
# `make bench` measures, `make test` proves; both need Go and nothing else.

GO ?= go

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "%-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: test
test: ## run every test, with the race detector; then what the detector disturbs
	$(GO) test -race ./...
	$(GO) test -run 'TestConformance/Allocations' ./codecs/...
	$(GO) test -tags purego ./codecs/b64

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

.PHONY: fmt
fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: peers
peers: ## install the SDKs that run as workers, from their lock files
	@for install in codecs/foreign/*/install; do $$install; done
	$(GO) run ./cmd/sealab list --peers

.PHONY: differential
differential: ## compare each installed SDK with the design that mirrors it, both directions
	$(GO) run ./cmd/sealab differential
