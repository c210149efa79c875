package cases

import (
	"encoding/json"
	"time"

	"sealab/vectors/kit"
)

// settings are contexts besides that of the first base. Each is a base for the
// families of context and time.
var settings = []struct {
	name, doc string
	try       Family
	change    func(*kit.Setting)
}{
	{"no-principal", "minted without a principal", contextsAbout("principal-"), func(s *kit.Setting) { s.Context.Principal = nil }},
	{"empty-principal", "minted for the empty principal", contextsAbout("principal-"), func(s *kit.Setting) { s.Context.Principal = text("") }},
	{"no-audience", "minted without an audience", contextsAbout("audience-"), func(s *kit.Setting) { s.Context.Audience = nil }},
	{"empty-audience", "minted for the empty audience", contextsAbout("audience-"), func(s *kit.Setting) { s.Context.Audience = text("") }},
	{"no-arguments", "minted without arguments", contextsAbout("arguments-"), func(s *kit.Setting) { s.Context.Arguments = nil }},
	{"empty-target", "minted for the empty target", contextsAbout("target-"), func(s *kit.Setting) { s.Context.Target = "" }},
	{"prompt", "minted for a prompt", contextsAbout("method-"), func(s *kit.Setting) { s.Context.Method = "prompts/get" }},
	{"resource", "minted for a resource", contextsAbout("arguments-"), func(s *kit.Setting) {
		s.Context.Method, s.Context.Target, s.Context.Arguments = "resources/read", "file:///a.txt", nil
	}},
	{"unicode", "minted for a principal and a target outside ASCII", contextsAbout("principal-"), func(s *kit.Setting) {
		s.Context.Principal, s.Context.Target = text("Zo\u00eb \ufb01 \u0130"), "d\u00e9ploy"
	}},
	{"numbers", "minted for arguments with awkward numbers", contextsAbout("arguments-"), func(s *kit.Setting) {
		s.Context.Arguments = json.RawMessage(`{"z":1.0,"a":[1e16,12345678901234567890,-0.0,1e-7,"\u00e9\ud800"],"a\u0000":null}`)
	}},
	{"nul-target", "minted with a NUL in the target", contextsAbout("glued-"), func(s *kit.Setting) {
		s.Context.Principal, s.Context.Target = text("alice"), "ops\x00deploy"
	}},
	{"nul-principal", "minted with a NUL in the principal", contextsAbout("glued-"), func(s *kit.Setting) {
		s.Context.Principal, s.Context.Target = text("alice\x00ops"), "deploy"
	}},
	{"numeric", "minted for a target, a principal and an audience that are digits", unquoted, func(s *kit.Setting) {
		s.Context.Target, s.Context.Principal, s.Context.Audience = "42", text("43"), text("44")
	}},
	{"short-life", "minted for one second", times, func(s *kit.Setting) { s.TTL = time.Second }},
	{"fractional-life", "minted for one and a half seconds", times, func(s *kit.Setting) { s.TTL = 1500 * time.Millisecond }},
	{"whole-second", "minted at a whole second", times, func(s *kit.Setting) { s.Context.Now = time.Unix(now.Unix(), 0) }},
	{"early", "minted in the year 1970", times, func(s *kit.Setting) { s.Context.Now = time.Unix(1, 0) }},
	{"late", "minted beyond 32 bits", times, func(s *kit.Setting) { s.Context.Now = time.Unix(1<<33, 500_000_000) }},
}

func text(s string) *string { return &s }
