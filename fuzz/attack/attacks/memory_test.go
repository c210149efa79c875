package attacks_test

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/lab"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// TestGrowthOfItsOwn attacks a sound design whose process grows now and then, independently of
// the calls. Neither the growth nor the restart that it causes may count against the design.
func TestGrowthOfItsOwn(t *testing.T) {
	grew := 0
	for i, d := range catalog.Variants() {
		if testenv.Sample() && i%8 != 0 {
			continue // test an eighth of the designs
		}
		readings, starts := 0, 0
		s := &attack.Design{Design: d, Worker: []string{"worker"},
			Restart: func() error { starts++; return nil },
			Memory: func() (worker.Memory, error) {
				m := worker.Memory{Resident: 50 << 20, Peak: 50 << 20, Mapped: 1 << 30}
				if readings++; readings%500 == 10 {
					m.Peak += 200 << 20
				}
				return m, nil
			}}
		n := seed + uint64(i)
		got := runAttacks(t, s, n, small(), "FRM-03")
		if readings > 10 {
			grew++
			require.Greater(t, starts, 1, "it grew and was not started again")
		}
		for _, cell := range got.Results {
			require.False(t, cell.Accuses(), "%s, seed %d: %s: %s", d.Name, n, cell.Property, cell.Issue)
		}
	}
	require.Positive(t, grew, "no design was read often enough")
}

// TestANewThreadIsNoGrowth attacks a sound design that starts a thread at the same moment of
// each life. Its C library reserves addresses for the thread and does not write to them.
func TestANewThreadIsNoGrowth(t *testing.T) {
	d := catalog.Variants()[0]
	readings := 0
	s := &attack.Design{Design: d, Worker: []string{"worker"},
		Restart: func() error { readings = 0; return nil },
		Memory: func() (worker.Memory, error) {
			m := worker.Memory{Resident: 50 << 20, Peak: 50 << 20, Mapped: 1 << 30}
			if readings++; readings > 2 {
				m.Mapped += 128 << 20
			}
			return m, nil
		}}
	got := runAttacks(t, s, seed, small(), "FRM-03")
	for _, cell := range got.Results {
		require.Equal(t, verdict.NotRefuted, cell.Outcome, "%s: %s%s", cell.Property, cell.Issue, cell.Reason)
	}
}

// A holder is a codec that records the length of the longest token since the last reading.
type holder struct {
	codecs.Codec
	longest *uint64
}

func (h holder) Unseal(dst, token []byte) ([]byte, error) {
	*h.longest = max(*h.longest, uint64(len(token)))
	return h.Codec.Unseal(dst, token)
}

// TestMemoryThatGrowsWithTheText attacks readers in processes of their own. Memory linear in
// the length of a text is acceptable unless the factor is in the hundreds.
func TestMemoryThatGrowsWithTheText(t *testing.T) {
	testenv.SkipSample(t)
	for name, c := range map[string]struct {
		holds   func(n uint64) uint64
		accused bool
	}{
		"70 bytes for each":  {func(n uint64) uint64 { return 70 * n }, false},
		"300 bytes for each": {func(n uint64) uint64 { return 300 * n }, true},
		"a square":           {func(n uint64) uint64 { return n * n >> 16 }, true},
	} {
		longest, d := uint64(0), catalog.Variants()[0]
		open := d.NewCodec
		d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
			codec, err := open(c)
			return holder{codec, &longest}, err
		}
		s := &attack.Design{Design: d, Worker: []string{"worker"}, Restart: func() error { return nil },
			Memory: func() (worker.Memory, error) {
				m := worker.Memory{Resident: 50 << 20, Peak: 50<<20 + c.holds(longest), Mapped: 1 << 30}
				longest = 0
				return m, nil
			}}
		got := runAttacks(t, s, seed, attack.DefaultBudget(), "FRM-04")
		for _, cell := range got.Results {
			require.Equal(t, c.accused, cell.Accuses(), "%s: %s: %s%s", name, cell.Outcome, cell.Issue, cell.Reason)
		}
	}
}

// A batcher is a codec that records the largest total size of a batch in bytes.
type batcher struct {
	codecs.Codec
	most *int
}

func (b batcher) UnsealAll(tokens [][]byte) (answers []lab.Answer, err error) {
	n := 0
	for _, token := range tokens {
		n += len(token)
		payload, err := b.Unseal(nil, token)
		answers = append(answers, lab.Answer{Payload: payload, Err: err})
	}
	if len(tokens) > 1 {
		*b.most = max(*b.most, n)
	}
	return answers, nil
}

// TestLongTokensInSmallBatches measures the size of batches. A slow linear design has the time
// of one request for each batch.
func TestLongTokensInSmallBatches(t *testing.T) {
	most, d := 0, catalog.Variants()[0]
	open := d.NewCodec
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := open(c)
		return batcher{codec, &most}, err
	}
	budget := attack.DefaultBudget()
	within(t, budget, d, "FRM-11")
	require.Greater(t, most, 1<<20, "no long tokens were presented")
	require.LessOrEqual(t, most, 4<<20)
}

// A compressingCodec is a codec that compresses states of up to most bytes.
type compressingCodec struct {
	codecs.Codec
	most int
}

func (p compressingCodec) Seal(dst, payload []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, min(9, max(0, p.most-len(payload))))
	if err != nil {
		return dst, err
	}
	w.Write(payload) //nolint:errcheck // a buffer takes all
	w.Close()        //nolint:errcheck // a buffer takes all
	return p.Codec.Seal(dst, b.Bytes())
}

func (p compressingCodec) Unseal(dst, token []byte) ([]byte, error) {
	packed, err := p.Codec.Unseal(nil, token)
	if err != nil {
		return dst, err
	}
	payload, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	return append(dst, payload...), err
}

// TestCompressionWithABound attacks a design that compresses states up to a length. The memory
// that a short token takes is then bounded.
func TestCompressionWithABound(t *testing.T) {
	for most, accused := range map[int]bool{1 << 19: false, 1 << 30: true} {
		d := catalog.Variants()[0]
		open := d.NewCodec
		d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
			codec, err := open(c)
			return compressingCodec{codec, most}, err
		}
		for _, cell := range within(t, attack.DefaultBudget(), d, "PAY-04") {
			require.Equal(t, accused, cell.Accuses(), "%d: %s: %s%s", most, cell.Outcome, cell.Issue, cell.Reason)
		}
	}
}
