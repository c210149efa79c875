package choice_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/choice"
	"sealab/codecs"
	"sealab/codecs/catalog"
)

// An expected is the answer of an expert.
type expected struct {
	fits []string          // the designs that fit, in any order
	not  map[string]string // designs that do not fit, with part of the reason
}

// answers are the answers to the scenarios.
var answers = map[string]expected{
	"session cookie of 200 bytes, at most 400 bytes of token": {
		[]string{"aes-256-gcm-claims", "aes-256-gcm-ctx-claims", "aes-256-gcm-siv-claims", "xaes-256-gcm-claims", "xchacha20-poly1305-claims",
			"ascon-aead128-claims", "aes-siv-claims"},
		map[string]string{"hmac-sha256-claims": "readable", "chacha20-poly1305-siv-claims": "bytes", "ml-dsa-44-claims": "readable", "aes-256-gcm": "claims"},
	},
	"state of 64 KiB, ten a second": {
		[]string{"aes-256-gcm", "aes-256-gcm-ctx", "aes-256-gcm-siv", "xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv",
			"aegis-256", "ascon-aead128", "aes-cbc-hmac", "hpke-psk", "hpke-session", "hpke-xwing-session"},
		map[string]string{"aes-siv": "equal payloads"},
	},
	"10^9 tokens a day for 90 days": {
		[]string{"xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv", "aegis-256", "ascon-aead128", "aes-cbc-hmac",
			"hpke-psk", "hpke-session", "hpke-xwing-session"},
		map[string]string{"aes-256-gcm": "SP 800-38D", "aes-256-gcm-siv": "2^32", "aes-256-gcm-ctx": "2^32"},
	},
	"verifiers in the browser": {
		[]string{"ed25519", "ml-dsa-44"},
		map[string]string{"aes-256-gcm": "symmetric", "hmac-sha256": "symmetric", "hpke-psk": "can seal"},
	},
	"verifiers in the browser, in a cookie of 4 KiB, post-quantum": {
		[]string{"ml-dsa-44"},
		map[string]string{"ed25519": "Shor"},
	},
	"fleet with VM snapshots: a nonce may repeat": {
		[]string{"aes-256-gcm-siv", "chacha20-poly1305-siv"},
		map[string]string{"aes-256-gcm": "key stream", "aes-siv": "equal payloads"},
	},
	"FIPS only": {
		[]string{"aes-256-gcm", "xaes-256-gcm", "aes-cbc-hmac", "ascon-aead128"},
		map[string]string{"xchacha20-poly1305": "NIST", "aes-256-gcm-siv": "NIST", "hpke-session": "NIST"},
	},
	"FIPS only, 10^9 tokens a day": {
		[]string{"xaes-256-gcm", "aes-cbc-hmac", "ascon-aead128"},
		map[string]string{"aes-256-gcm": "2^32"},
	},
	"keys of many tenants, opened by key ID: commitment, 10,000 a second": {
		[]string{"chacha20-poly1305-siv", "dndk-gcm", "aes-cbc-hmac"},
		map[string]string{"aes-256-gcm-ctx": "2^32", "aegis-256": "128 bits"},
	},
	"pagination cursor that a developer can read, in a link": {
		[]string{"hmac-sha256"},
		map[string]string{"aes-256-gcm": "polynomial", "ml-dsa-44": "bytes"},
	},
	"unlinkable and committing: claims": {
		[]string{"chacha20-poly1305-siv-claims", "dndk-gcm-claims", "aes-cbc-hmac-claims"},
		map[string]string{"chacha20-poly1305-siv": "claims", "aes-256-gcm-claims": "polynomial", "hmac-sha256-claims": "readable"},
	},
	"a program in Python opens the tokens": {
		[]string{"hpke-psk", "hpke-session"},
		map[string]string{"aes-256-gcm": "python"},
	},
	"post-quantum session for a gateway": {
		[]string{"xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv", "aegis-256", "aes-cbc-hmac", "ascon-aead128", "hpke-xwing-session"},
		map[string]string{"hpke-session": "Shor", "aes-256-gcm": "2^32"},
	},
	"hidden from verifiers that cannot mint: no design": {
		nil,
		map[string]string{"ed25519": "readable", "aes-256-gcm": "symmetric"},
	},
}

func TestScenarios(t *testing.T) {
	require.GreaterOrEqual(t, len(choice.Scenarios), 12)
	for _, s := range choice.Scenarios {
		t.Run(s.Name, func(t *testing.T) {
			want, ok := answers[s.Name]
			require.True(t, ok, "the scenario has no answer")
			answer, err := choice.Choose(catalog.All(), s.Query, nil)
			require.NoError(t, err)
			var fits []string
			for _, c := range answer.Fits {
				fits = append(fits, c.Design)
			}
			require.ElementsMatch(t, want.fits, fits)
			reasons := map[string]string{}
			for _, r := range answer.Others {
				reasons[r.Design] = r.Reason
			}
			for design, part := range want.not {
				require.Contains(t, reasons[design], part, design)
			}
			require.Equal(t, len(catalog.All()), len(answer.Fits)+len(answer.Others), "every design has an answer")
		})
	}
}

// TestClaimsCountAgainstTheLimitOfAKey queries a state of 2 bytes with claims, which add 49 bytes. A key
// then seals fewer tokens than for a payload of 20 bytes.
func TestClaimsCountAgainstTheLimitOfAKey(t *testing.T) {
	limits := map[string]float64{}
	for _, q := range []choice.Query{{Needs: []codecs.Property{codecs.Expiry}, Payload: 2}, {Payload: 20}, {Payload: 200}} {
		answer, err := choice.Choose(catalog.All(), q, nil)
		require.NoError(t, err)
		for _, f := range answer.Fits {
			if f.Log2Tokens != nil {
				limits[fmt.Sprintf("%s %d", f.Design, q.Payload)] = *f.Log2Tokens
			}
		}
	}
	counted := 0
	for _, d := range catalog.All() {
		claims, short, long := limits[d.Name+"-claims 2"], limits[d.Name+" 20"], limits[d.Name+" 200"]
		if short == long {
			continue // its limit in bytes is not below its limit in tokens
		}
		counted++
		require.Less(t, claims, short, d.Name)
		require.Greater(t, claims, long, d.Name)
	}
	require.Positive(t, counted)
}

// TestNoiseDoesNotDecide gives the measured designs the same time with noise, but for one that is slower by
// half. The shortest token of the equal ones comes first, and the slower one behind them.
func TestNoiseDoesNotDecide(t *testing.T) {
	ns := map[string]float64{"aegis-256": 100, "aes-256-gcm": 101, "xaes-256-gcm": 103, "aes-256-gcm-siv": 150}
	costs := func(design string, _ int) (choice.Cost, bool) {
		n, ok := ns[design]
		return choice.Cost{SealNs: n, Rounds: []float64{n, n + 1, n - 1, n + 1, n - 1, n}, Noise: 0.04}, ok
	}
	answer, err := choice.Choose(catalog.All(), choice.Query{Payload: 64}, costs)
	require.NoError(t, err)
	require.Equal(t, 3, answer.Equal)
	var order []string
	for _, f := range answer.Fits[:5] {
		order = append(order, f.Design)
	}
	require.Equal(t, []string{"aes-256-gcm", "xaes-256-gcm", "aegis-256", "aes-256-gcm-siv"}, order[:4])
	require.Nil(t, answer.Fits[4].Cost)
}

func TestDays(t *testing.T) {
	for days, want := range map[float64]string{
		0.01: "14.4 minutes", 1: "24 hours", 4.97: "4.97 days", 5070: "13.9 years", 1e12: "over 1000 years",
	} {
		require.Equal(t, want, choice.Days(days))
	}
}
