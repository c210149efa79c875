package choice_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/analysis/choice"
	"sealab/codecs"
	"sealab/codecs/catalog"
)

const day = 24 * time.Hour

// A scenario is a question and the answer that an expert gives.
type scenario struct {
	name  string
	query choice.Query
	fits  []string          // the designs that fit, in any order
	not   map[string]string // designs that do not fit: part of the reason
}

// scenarios were written down before the rules of the package.
var scenarios = []scenario{
	{
		"session cookie of 200 bytes, at most 400 bytes of token",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 200, MaxToken: 400, Rate: 100, Lifetime: 30 * day},
		[]string{"aes-256-gcm", "aes-256-gcm-ctx", "aes-256-gcm-siv", "xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv",
			"aegis-256", "ascon-aead128", "aes-cbc-hmac", "hpke-psk", "hpke-session"},
		map[string]string{"hmac-sha256": "readable", "aes-siv": "equal payloads", "ml-dsa-44": "readable"},
	},
	{
		"state of 64 KiB, ten a second",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.FreshNonces}, Payload: 64 << 10, Rate: 10, Lifetime: 90 * day},
		[]string{"aes-256-gcm", "aes-256-gcm-ctx", "aes-256-gcm-siv", "xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv",
			"aegis-256", "ascon-aead128", "aes-cbc-hmac", "hpke-psk", "hpke-session", "hpke-xwing-session"},
		map[string]string{"aes-siv": "equal payloads"},
	},
	{
		"10^9 tokens a day for 90 days",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, Rate: 1e9 / 86400, Lifetime: 90 * day},
		[]string{"xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv", "aegis-256", "ascon-aead128", "aes-cbc-hmac",
			"hpke-psk", "hpke-session", "hpke-xwing-session"},
		map[string]string{"aes-256-gcm": "SP 800-38D", "aes-256-gcm-siv": "2^32", "aes-256-gcm-ctx": "2^32"},
	},
	{
		"verifiers in the browser",
		choice.Query{Needs: []codecs.Property{codecs.SenderAuthenticated}, Payload: 200, Rate: 100, Lifetime: 365 * day},
		[]string{"ed25519", "ml-dsa-44"},
		map[string]string{"aes-256-gcm": "symmetric", "hmac-sha256": "symmetric", "hpke-psk": "can seal"},
	},
	{
		"verifiers in the browser, in a cookie of 4 KiB, post-quantum",
		choice.Query{Needs: []codecs.Property{codecs.SenderAuthenticated}, Payload: 200, MaxToken: 4096, PostQuantum: true},
		[]string{"ml-dsa-44"},
		map[string]string{"ed25519": "Shor"},
	},
	{
		"fleet with VM snapshots: a nonce may repeat",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.NonceMisuseResistant}, Payload: 1 << 10, Rate: 100, Lifetime: 90 * day},
		[]string{"aes-256-gcm-siv", "chacha20-poly1305-siv"},
		map[string]string{"aes-256-gcm": "key stream", "aes-siv": "equal payloads"},
	},
	{
		"FIPS only",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, FIPS: true, Rate: 100, Lifetime: 90 * day},
		[]string{"aes-256-gcm", "xaes-256-gcm", "aes-cbc-hmac", "ascon-aead128"},
		map[string]string{"xchacha20-poly1305": "NIST", "aes-256-gcm-siv": "NIST", "hpke-session": "NIST"},
	},
	{
		"FIPS only, 10^9 tokens a day",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, FIPS: true, Rate: 1e9 / 86400, Lifetime: 90 * day},
		[]string{"xaes-256-gcm", "aes-cbc-hmac", "ascon-aead128"},
		map[string]string{"aes-256-gcm": "2^32"},
	},
	{
		"keys of many tenants, opened by key ID: commitment, 10,000 a second",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.KeyCommitting}, Payload: 1 << 10, Rate: 10_000, Lifetime: 90 * day},
		[]string{"chacha20-poly1305-siv", "dndk-gcm", "aes-cbc-hmac"},
		map[string]string{"aes-256-gcm-ctx": "2^32", "aegis-256": "128 bits"},
	},
	{
		"pagination cursor that a developer can read, in a link",
		choice.Query{Needs: []codecs.Property{codecs.Integrity, codecs.KeyCommitting}, Payload: 48, MaxToken: 130, Rate: 1000, Lifetime: 365 * day},
		[]string{"hmac-sha256"},
		map[string]string{"aes-256-gcm": "polynomial", "ml-dsa-44": "bytes"},
	},
	{
		"unlinkable and committing: claims",
		choice.Query{Needs: []codecs.Property{codecs.KeyCommitting, codecs.Unlinkable}, Payload: 1 << 10, Rate: 10_000, Lifetime: 90 * day},
		[]string{"chacha20-poly1305-siv-claims", "dndk-gcm-claims", "aes-cbc-hmac-claims"},
		map[string]string{"chacha20-poly1305-siv": "claims", "aes-256-gcm-claims": "polynomial", "hmac-sha256-claims": "readable"},
	},
	{
		"a program in Python opens the tokens",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, Rate: 100, Lifetime: 30 * day, Interop: "python"},
		[]string{"hpke-psk", "hpke-session"},
		map[string]string{"aes-256-gcm": "python"},
	},
	{
		"post-quantum session for a gateway",
		choice.Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.FreshNonces}, Payload: 1 << 10, Rate: 10_000, Lifetime: 365 * day, PostQuantum: true},
		[]string{"xaes-256-gcm", "dndk-gcm", "xchacha20-poly1305", "chacha20-poly1305-siv", "aegis-256", "aes-cbc-hmac", "ascon-aead128", "hpke-xwing-session"},
		map[string]string{"hpke-session": "Shor", "aes-256-gcm": "2^32"},
	},
	{
		"hidden from verifiers that cannot mint: no design",
		choice.Query{Needs: []codecs.Property{codecs.SenderAuthenticated, codecs.Confidentiality}, Payload: 200},
		nil,
		map[string]string{"ed25519": "readable", "aes-256-gcm": "symmetric"},
	},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			answer, err := choice.Choose(catalog.All(), s.query, nil)
			require.NoError(t, err)
			var fits []string
			for _, c := range answer.Fits {
				fits = append(fits, c.Design)
			}
			require.ElementsMatch(t, s.fits, fits)
			reasons := map[string]string{}
			for _, r := range answer.Others {
				reasons[r.Design] = r.Reason
			}
			for design, part := range s.not {
				require.Contains(t, reasons[design], part, design)
			}
			require.Equal(t, len(catalog.All()), len(answer.Fits)+len(answer.Others), "every design has an answer")
		})
	}
}
