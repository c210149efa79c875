#!/bin/bash -eu
# Builds every target that needs no other program, with its seeds beside it.
# Called by OSS-Fuzz and ClusterFuzzLite with OUT set, in the root of the module.

targets="Text Inside Claims Relations Sequences Contexts Readings Remote Primitives Json Serving"

for target in $targets; do
	name=$(echo "$target" | tr '[:upper:]' '[:lower:]')
	compile_go_fuzzer sealab/fuzz/gofuzz "Fuzz$target" "fuzz_$name"
	go run ./cmd/sealab fuzz corpus seeds "$name" --to zip "$OUT/fuzz_${name}_seed_corpus.zip"
done
