package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// selfAs returns the path of this test binary under the command's name, under
// which it acts as the command.
func selfAs(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Symlink(self, link))
	return link
}

// workerOf returns the command that serves a design. GORACE avoids a second of
// sleep at exit with the race detector.
func workerOf(sealab, design string) worker.Command {
	return worker.Command{Args: []string{sealab, "worker", design}, Env: []string{"GORACE=atexit_sleep_ms=0"}}
}

// TestEveryDesignAgreesWithItsWorker checks that a design in this process and
// the same design behind sealab worker open each other's tokens and give the
// same verdict on altered ones.
func TestEveryDesignAgreesWithItsWorker(t *testing.T) {
	sealab := selfAs(t, "sealab")
	designs := catalog.Variants()
	require.NotEmpty(t, designs)
	for i, d := range designs {
		if testenv.Sample() && i%8 != 0 {
			continue // an eighth of the designs
		}
		t.Run(d.Name, func(t *testing.T) {
			client, err := worker.Dial(workerOf(sealab, d.Name), worker.Limits{})
			require.NoError(t, err)
			defer client.Close()
			remote := client.Design()
			require.Equal(t, d.Name, remote.Name)
			require.Equal(t, d.IsScheme(), remote.IsScheme())
			requireSameGuarantees(t, d, remote)
			config := codecs.Config{Secrets: [][]byte{secret(d, 1)}}
			here, there := sealer(t, d, config), sealer(t, remote, config)
			requireAgreement(t, here, there)
			requireAgreement(t, there, here)
			require.Empty(t, client.Events())
		})
	}
}

func requireSameGuarantees(t *testing.T, here, there codecs.Design) {
	t.Helper()
	require.Len(t, there.GuaranteesFor(nil), len(here.GuaranteesFor(nil)))
	for _, g := range here.GuaranteesFor(nil) {
		other, ok := there.Guarantee(g.Property, nil)
		require.True(t, ok, "%s", g.Property)
		require.Equal(t, g.Holds, other.Holds, "%s", g.Property)
	}
}

// secret returns a secret of the length that the design takes.
func secret(d codecs.Design, seed byte) []byte {
	s := make([]byte, max(d.KeySize, codecs.MinSecret))
	for i := range s {
		s[i] = seed + byte(i)
	}
	return s
}

// An endpoint makes and judges tokens as a codec or as a scheme in one context.
type endpoint struct {
	seal   func(payload []byte) ([]byte, error)
	unseal func(token []byte) ([]byte, error)
}

func sealer(t *testing.T, d codecs.Design, config codecs.Config) endpoint {
	t.Helper()
	in, err := lab.Open(d, config)
	require.NoError(t, err)
	alice := "alice"
	c := in.At(&codecs.Context{
		Now:    time.Unix(1795132800, 250_000_000),
		Method: "tools/call", Target: "deploy", Principal: &alice,
		Arguments: json.RawMessage(`{"to": "production", "n": 1.0, "big": 123456789012345678901}`),
	})
	return endpoint{
		func(p []byte) ([]byte, error) { return c.Seal(nil, p) },
		func(token []byte) ([]byte, error) { return c.Unseal(nil, token) },
	}
}

// requireAgreement seals with maker and checks that both give the same verdict
// on the token and on altered ones.
func requireAgreement(t *testing.T, maker, judge endpoint) {
	t.Helper()
	for _, payload := range []string{`{}`, `{"step":1,"note":"é"}`, `"` + string(bytes.Repeat([]byte("x"), 2000)) + `"`} {
		token, err := maker.seal([]byte(payload))
		require.NoError(t, err)
		got, err := judge.unseal(token)
		require.NoError(t, err)
		require.Equal(t, payload, string(got))
		for _, altered := range alterations(token) {
			want, wantErr := maker.unseal(altered)
			got, gotErr := judge.unseal(altered)
			require.Equal(t, codecs.Rejected(wantErr), codecs.Rejected(gotErr), "%q", altered)
			require.Equal(t, errors.Is(wantErr, codecs.ErrUnsupported), errors.Is(gotErr, codecs.ErrUnsupported), "%q", altered)
			require.Equal(t, string(want), string(got), "%q", altered)
		}
	}
}

func alterations(token []byte) [][]byte {
	all := [][]byte{{}, []byte("v1."), append(bytes.Clone(token), '='), append([]byte(" "), token...)}
	for i := 0; i < len(token); i += 1 + len(token)/20 {
		changed := bytes.Clone(token)
		changed[i] ^= 1
		all = append(all, changed, token[:i])
	}
	return all
}
