package hpkekeys

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	circl "github.com/cloudflare/circl/hpke"
	"github.com/stretchr/testify/require"
)

// The common inputs of all mode_psk vectors of RFC 9180, appendix A.
const (
	vectorInfo    = "Ode on a Grecian Urn"
	vectorPSK     = "0247fd33b913760fa1fa51e1892d9f307fbe65eb171e8132c2af18555a738b82"
	vectorPSKID   = "Ennyn Durin aran Moria"
	vectorPayload = "Beauty is truth, truth beauty"
)

// vectors are the published mode_psk vectors for DHKEM(X25519, HKDF-SHA256)
// with HKDF-SHA256. The RFC prints two of the ciphers. The third, which the
// designs use, is in the machine-readable file that the RFC's appendix A refers
// to (cfrg/draft-irtf-cfrg-hpke, commit 5f503c5).
var vectors = []struct {
	name                        string
	aead                        circl.AEAD
	ikmR, skRm, pkRm, ikmE, enc string
	sealed                      []string // of vectorPayload with "Count-0", "Count-1", "Count-2"
	exported                    []string // 32 bytes for "", "\x00", "TestContext"
}{
	{
		name: "RFC 9180, A.1.2", aead: circl.AEAD_AES128GCM,
		ikmR: "d4a09d09f575fef425905d2ab396c1449141463f698f8efdb7accfaff8995098",
		skRm: "c5eb01eb457fe6c6f57577c5413b931550a162c71a03ac8d196babbd4e5ce0fd",
		pkRm: "9fed7e8c17387560e92cc6462a68049657246a09bfa8ade7aefe589672016366",
		ikmE: "78628c354e46f3e169bd231be7b2ff1c77aa302460a26dbfa15515684c00130b",
		enc:  "0ad0950d9fb9588e59690b74f1237ecdf1d775cd60be2eca57af5a4b0471c91b",
		sealed: []string{
			"e52c6fed7f758d0cf7145689f21bc1be6ec9ea097fef4e959440012f4feb73fb611b946199e681f4cfc34db8ea",
			"49f3b19b28a9ea9f43e8c71204c00d4a490ee7f61387b6719db765e948123b45b61633ef059ba22cd62437c8ba",
			"257ca6a08473dc851fde45afd598cc83e326ddd0abe1ef23baa3baa4dd8cde99fce2c1e8ce687b0b47ead1adc9",
		},
		exported: []string{
			"dff17af354c8b41673567db6259fd6029967b4e1aad13023c2ae5df8f4f43bf6",
			"6a847261d8207fe596befb52928463881ab493da345b10e1dcc645e3b94e2d95",
			"8aff52b45a1be3a734bc7a41e20b4e055ad4c4d22104b0c20285a7c4302401cd",
		},
	},
	{
		name: "the RFC's test-vectors.json, AES-256-GCM", aead: circl.AEAD_AES256GCM,
		ikmR: "f1c6eccfde050607555cae11893fcfe895f85eadc7c77c42c1544391d0cb7a20",
		skRm: "d99132243a09c24a7497f3da8608f0ba808c21a575d33679f4b24603e96d27ad",
		pkRm: "62a61ceb338540516edde460e27923a8df6749bc38e27b1001cd5b8b9102e44c",
		ikmE: "82a09463e824b97331c06be1d3eebd9a3e023e08b9ed22bc6a4af2ff024817dd",
		enc:  "4f3e44d4dde1d0d12a724242df8cef0a68ea53617dab8a6aade4239d404a5154",
		sealed: []string{
			"316d9b4214a33182212888e86f23005b0706c30db2b1052c4e28c2c100fcdb85cc934b0a64c8db0d7dd339b64c",
			"d8d6bd66e6e43f33a40bbb3786cad58092b5c7c64fa4c596fbeea04334dd169d7a02a25556e95a0f9a043938f7",
			"facb3855d62ed8e2fc1060aa8c88c295ca414e9d62347d5525c02917dd97842d9bc3058af20694992fc8c3205a",
		},
		exported: []string{
			"c2dccc00e2dda4c34a38e25a9ec1c0a43338b2d3c08ab7a870a978839d64af98",
			"b0eba64b7c69140740872216442aebbfbdbb3c5acfcd394d2272ae8b5694c1a9",
			"83c8f8266bad56783567d44f9cd2a1c0070e1ea179d147e1424622037e7fb61c",
		},
	},
	{
		name: "RFC 9180, A.2.2", aead: circl.AEAD_ChaCha20Poly1305,
		ikmR: "26b923eade72941c8a85b09986cdfa3f1296852261adedc52d58d2930269812b",
		skRm: "77d114e0212be51cb1d76fa99dd41cfd4d0166b08caa09074430a6c59ef17879",
		pkRm: "13640af826b722fc04feaa4de2f28fbd5ecc03623b317834e7ff4120dbe73062",
		ikmE: "35706a0b09fb26fb45c39c2f5079c709c7cf98e43afa973f14d88ece7e29c2e3",
		enc:  "2261299c3f40a9afc133b969a97f05e95be2c514e54f3de26cbe5644ac735b04",
		sealed: []string{
			"4a177f9c0d6f15cfdf533fb65bf84aecdc6ab16b8b85b4cf65a370e07fc1d78d28fb073214525276f4a89608ff",
			"5c3cabae2f0b3e124d8d864c116fd8f20f3f56fda988c3573b40b09997fd6c769e77c8eda6cda4f947f5b704a8",
			"14958900b44bdae9cbe5a528bf933c5c990dbb8e282e6e495adf8205d19da9eb270e3a6f1e0613ab7e757962a4",
		},
		exported: []string{
			"813c1bfc516c99076ae0f466671f0ba5ff244a41699f7b2417e4c59d46d39f40",
			"2745cf3d5bb65c333658732954ee7af49eb895ce77f8022873a62a13c94cb4e1",
			"ad40e3ae14f21c99bfdebc20ae14ab86f4ca2dc9a4799d200f43a25f99fa78ae",
		},
	},
}

func TestPublishedVectors(t *testing.T) {
	require.Len(t, vectors, 3)
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			public, private := scheme().DeriveKeyPair(unhex(t, v.ikmR))
			publicBytes, err := public.MarshalBinary()
			require.NoError(t, err)
			privateBytes, err := private.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, v.pkRm, hex.EncodeToString(publicBytes))
			require.Equal(t, v.skRm, hex.EncodeToString(privateBytes))

			s := circl.NewSuite(circl.KEM_X25519_HKDF_SHA256, circl.KDF_HKDF_SHA256, v.aead)
			sender, err := s.NewSender(public, []byte(vectorInfo))
			require.NoError(t, err)
			enc, sealer, err := sender.SetupPSK(bytes.NewReader(unhex(t, v.ikmE)), unhex(t, vectorPSK), []byte(vectorPSKID))
			require.NoError(t, err)
			require.Equal(t, v.enc, hex.EncodeToString(enc))
			recipient, err := s.NewReceiver(private, []byte(vectorInfo))
			require.NoError(t, err)
			opener, err := recipient.SetupPSK(enc, unhex(t, vectorPSK), []byte(vectorPSKID))
			require.NoError(t, err)

			for i, want := range v.sealed {
				data := fmt.Appendf(nil, "Count-%d", i)
				sealed, err := sealer.Seal([]byte(vectorPayload), data)
				require.NoError(t, err)
				require.Equal(t, want, hex.EncodeToString(sealed))
				opened, err := opener.Open(sealed, data)
				require.NoError(t, err)
				require.Equal(t, vectorPayload, string(opened))
			}
			for i, context := range []string{"", "\x00", "TestContext"} {
				require.Equal(t, v.exported[i], hex.EncodeToString(sealer.Export([]byte(context), 32)))
				require.Equal(t, v.exported[i], hex.EncodeToString(opener.Export([]byte(context), 32)))
			}
		})
	}
}

// TestPublishedVectorThroughPackage runs the vector of the designs' suite
// through this package. The label serves as info. Because the designs' psk_id
// has a fixed length, the vector's psk_id goes to decapsulate.
func TestPublishedVectorThroughPackage(t *testing.T) {
	v := vectors[1]
	require.Equal(t, circl.AEAD_AES256GCM, v.aead)
	public, private := scheme().DeriveKeyPair(unhex(t, v.ikmR))
	k := &PrivateKey{PublicKey{kem: X25519, label: vectorInfo, public: public, psk: unhex(t, vectorPSK)}, private}
	opener, err := k.decapsulate(unhex(t, v.enc), []byte(vectorPSKID))
	require.NoError(t, err)
	opened, err := opener.Open(unhex(t, v.sealed[0]), []byte("Count-0"))
	require.NoError(t, err)
	require.Equal(t, vectorPayload, string(opened))

	sealer, err := k.SealerFor(unhex(t, v.enc), []byte(vectorPSKID))
	require.NoError(t, err)
	sealed, err := sealer.Seal([]byte(vectorPayload), []byte("Count-0"))
	require.NoError(t, err)
	require.Equal(t, v.sealed[0], hex.EncodeToString(sealed))
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}
