package targets_test

import (
	"bytes"
	"math/rand/v2"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
)

// BenchmarkTargets runs drawn inputs without an engine. It reports executions per second of
// wall-clock and processor time, the share of processor time in cryptographic primitives, and
// the executions per second if everything else took no time. The profile samples the processor
// 100 times per second.
func BenchmarkTargets(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(harness.GCPercent))
	for _, t := range targets.All() {
		if missing := t.Unavailable(); missing != "" {
			b.Logf("skipped: %s: %s", t.Name, missing)
			continue
		}
		seeds, err := t.Seeds()
		require.NoError(b, err)
		inputs := drawn(seeds, 4096)
		b.Run("target="+t.Name, func(b *testing.B) {
			var samples bytes.Buffer
			profiled := pprof.StartCPUProfile(&samples) == nil // fails under -cpuprofile
			for i := 0; b.Loop(); i++ {
				if err := t.Run(inputs[i%len(inputs)]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "execs/s")
			if !profiled {
				return
			}
			pprof.StopCPUProfile()
			within, all := cryptography(b, &samples)
			b.ReportMetric(float64(b.N)/all, "execs/cpu-s")
			if within > 0 {
				b.ReportMetric(100*within/all, "crypto-%")
				b.ReportMetric(float64(b.N)/within, "bound-execs/cpu-s")
			}
		})
	}
}

// drawn returns n inputs; see drawnFrom.
func drawn(seeds [][]byte, n int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	var inputs [][]byte
	for range n {
		inputs = append(inputs, drawnFrom(seeds, random))
	}
	return inputs
}

// primitives are the prefixes of functions that do only cryptography.
var primitives = []string{"crypto/", "golang.org/x/crypto/", "github.com/cloudflare/circl/", "sealab/fuzz/targets/reference.Seal", "sealab/fuzz/targets/reference.Open"}

// cryptography returns the seconds of a profile that were spent below primitives, and all
// seconds.
func cryptography(b *testing.B, samples *bytes.Buffer) (within, all float64) {
	p, err := profile.Parse(samples)
	require.NoError(b, err)
	const nanoseconds = 1 // value 0 is the number of samples
	for _, s := range p.Sample {
		seconds := float64(s.Value[nanoseconds]) / 1e9
		all += seconds
		if inPrimitive(s) {
			within += seconds
		}
	}
	return within, all
}

func inPrimitive(s *profile.Sample) bool {
	for _, at := range s.Location {
		for _, line := range at.Line {
			for _, prefix := range primitives {
				if strings.HasPrefix(line.Function.Name, prefix) {
					return true
				}
			}
		}
	}
	return false
}

// TestInPrimitive checks that a sample counts if a primitive is anywhere on its stack.
func TestInPrimitive(t *testing.T) {
	sample := func(names ...string) *profile.Sample {
		s := &profile.Sample{}
		for _, name := range names {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		return s
	}
	require.True(t, inPrimitive(sample("runtime.mallocgc", "crypto/hmac.New", "sealab/fuzz/targets.text")))
	require.False(t, inPrimitive(sample("encoding/base64.(*Encoding).Encode", "sealab/codecs/internal/layouts.open")))
}
