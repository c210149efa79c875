package hpkekeys

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	circl "github.com/cloudflare/circl/hpke"
	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// xwingID is the ID of X-Wing in HPKE's registry of KEMs, where it is named
// MLKEM768-X25519.
const xwingID = 0x647a

// TestPostQuantumVectors opens the vectors of draft-ietf-hpke-pq for X-Wing,
// which are in the Go tree. They cover only base mode.
func TestPostQuantumVectors(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", "crypto", "hpke", "testdata", "hpke-pq.json"))
	if err != nil {
		testenv.Skip(t, "the Go tree has no hpke-pq.json: %v", err)
	}
	var all []struct {
		KEM         uint16 `json:"kem_id"`
		KDF         uint16 `json:"kdf_id"`
		AEAD        uint16 `json:"aead_id"`
		Info        string
		SkRm, PkRm  string
		Enc         string
		Encryptions []struct{ AAD, CT, PT string }
		Exports     []struct {
			Context  string `json:"exporter_context"`
			L        uint
			Exported string `json:"exported_value"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &all))
	opened, exported := 0, 0
	for _, v := range all {
		if v.KEM != xwingID || !circl.KDF(v.KDF).IsValid() {
			continue // another KEM, or an unsupported hash
		}
		private, err := XWing.id.Scheme().UnmarshalBinaryPrivateKey(unhex(t, v.SkRm))
		require.NoError(t, err)
		public, err := private.Public().MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, v.PkRm, hex.EncodeToString(public))
		recipient, err := circl.NewSuite(XWing.id, circl.KDF(v.KDF), circl.AEAD(v.AEAD)).NewReceiver(private, unhex(t, v.Info))
		require.NoError(t, err)
		opener, err := recipient.Setup(unhex(t, v.Enc))
		require.NoError(t, err)
		for _, e := range v.Exports {
			require.Equal(t, e.Exported, hex.EncodeToString(opener.Export(unhex(t, e.Context), e.L)))
			exported++
		}
		for _, e := range v.Encryptions {
			_, err := opener.Open(unhex(t, e.CT), unhex(t, e.AAD))
			require.NoError(t, err)
			opened++
		}
	}
	require.Positive(t, opened)
	require.Positive(t, exported)
	t.Logf("%d sealed texts and %d exported secrets", opened, exported)
}
