#!/bin/bash -eu
# Builds every target of the file targets, with its seeds beside it. OSS-Fuzz and
# ClusterFuzzLite call it with OUT and WORK set, in the root of the module.

go build -o "$WORK/sealab" ./cmd/sealab
while read -r function name; do
	compile_go_fuzzer sealab/fuzz/targets/gofuzz "$function" "fuzz_$name"
	"$WORK/sealab" fuzz corpus seeds "$name" --to zip "$OUT/fuzz_${name}_seed_corpus.zip"
done <fuzz/oss-fuzz/targets
