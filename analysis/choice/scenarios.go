package choice

import (
	"time"

	"sealab/codecs"
)

const day = 24 * time.Hour

// A Scenario is a use, and the question that it puts.
type Scenario struct {
	Name string
	Query
}

// Scenarios were written down before the rules of this package. A test holds each to
// the answer of an expert.
var Scenarios = []Scenario{
	{"session cookie of 200 bytes, at most 400 bytes of token", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 200, MaxToken: 400, Rate: 100, Lifetime: 30 * day}},
	{"state of 64 KiB, ten a second", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.FreshNonces}, Payload: 64 << 10, Rate: 10, Lifetime: 90 * day}},
	{"10^9 tokens a day for 90 days", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, Rate: 1e9 / 86400, Lifetime: 90 * day}},
	{"verifiers in the browser", Query{Needs: []codecs.Property{codecs.SenderAuthenticated}, Payload: 200, Rate: 100, Lifetime: 365 * day}},
	{"verifiers in the browser, in a cookie of 4 KiB, post-quantum", Query{Needs: []codecs.Property{codecs.SenderAuthenticated}, Payload: 200, MaxToken: 4096, PostQuantum: true}},
	{"fleet with VM snapshots: a nonce may repeat", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.NonceMisuseResistant}, Payload: 1 << 10, Rate: 100, Lifetime: 90 * day}},
	{"FIPS only", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, FIPS: true, Rate: 100, Lifetime: 90 * day}},
	{"FIPS only, 10^9 tokens a day", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, FIPS: true, Rate: 1e9 / 86400, Lifetime: 90 * day}},
	{"keys of many tenants, opened by key ID: commitment, 10,000 a second", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.KeyCommitting}, Payload: 1 << 10, Rate: 10_000, Lifetime: 90 * day}},
	{"pagination cursor that a developer can read, in a link", Query{Needs: []codecs.Property{codecs.Integrity, codecs.KeyCommitting}, Payload: 48, MaxToken: 130, Rate: 1000, Lifetime: 365 * day}},
	{"unlinkable and committing: claims", Query{Needs: []codecs.Property{codecs.KeyCommitting, codecs.Unlinkable}, Payload: 1 << 10, Rate: 10_000, Lifetime: 90 * day}},
	{"a program in Python opens the tokens", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, Rate: 100, Lifetime: 30 * day, Interop: "python"}},
	{"post-quantum session for a gateway", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.FreshNonces}, Payload: 1 << 10, Rate: 10_000, Lifetime: 365 * day, PostQuantum: true}},
	{"hidden from verifiers that cannot mint: no design", Query{Needs: []codecs.Property{codecs.SenderAuthenticated, codecs.Confidentiality}, Payload: 200}},
}
