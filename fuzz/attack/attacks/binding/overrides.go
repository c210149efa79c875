package binding

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// overridden presents a token with arguments that contain members of the state with other
// values. The returned state must be the sealed one.
func (t trial) overridden(in *attack.Instance, tok *attack.Token) {
	t.namedClaims(in, tok)
	t.namedExpiry(tok)
	state := []byte(`{"step":"confirmed","env":"staging","inputResponses":{"ok":false}}`)
	honest, ok := in.Mint(state, tok.Under)
	if !ok {
		t.Skip("the design does not seal a JSON object")
		return
	}
	for _, other := range []string{
		`{"step":"other","env":"production"}`, `{"env":"staging","replicas":3,"step":"other"}`, `{"inputResponses":{"ok":true}}`,
		`{"state":{"step":"other"}}`, `{"requestState":{"step":"other"}}`,
	} {
		t.Try(codecs.Integrity)
		for _, text := range [][]byte{honest.Text, in.Seal(state, fields.Arguments.Put(tok.Under, other)).Answer.Out} {
			if call, ok := in.Accepts(text, fields.Arguments.Put(tok.Under, other)); ok && !honest.Same(call) {
				t.Refute(codecs.Integrity, fmt.Sprintf("with arguments %s the state comes back as %.80q", other, call.Answer.Out), honest.Sealed, call)
			}
		}
	}
}

// claimNames are names under which claims of bound fields are known (RFC 7519, section 4.1).
var claimNames = map[codecs.Property][]string{
	codecs.BindsMethod: {"method", "mth"}, codecs.BindsTarget: {"target", "name", "uri", "tgt"},
	codecs.BindsPrincipal: {"sub", "subject", "principal", "user"}, codecs.BindsAudience: {"aud", "audience"},
}

// namedClaims seals states whose members have the names of claims, and presents the tokens for
// the values of these members. A claim must take precedence over the state.
func (t trial) namedClaims(in *attack.Instance, tok *attack.Token) {
	for _, f := range fields.All {
		names := claimNames[f.Property]
		if names == nil || !f.Binds(in, tok) {
			continue
		}
		value := f.Unrelated()[0]
		state := `{"step":"x"`
		for _, name := range names {
			state += fmt.Sprintf(`,%q:%q`, name, value)
		}
		sealed := in.Seal([]byte(state+"}"), tok.Under)
		if sealed.Answer.Outcome != verdict.Done {
			continue
		}
		t.Refuses(f.Property, in, sealed, f.Put(tok.Under, value), "members of the state replace the %s that a token was minted for", f.Name)
	}
}

// claimedLife is the time to live of tokens whose state claims a longer one.
const claimedLife = 10 * time.Minute

// namedExpiry seals states whose members have the names of an expiry far in the future, and
// presents the tokens after their expiry.
func (t trial) namedExpiry(tok *attack.Token) {
	in, plain, ok := t.MintFor(claimedLife, tok.Under)
	late := attack.Later(tok.Under, 2*claimedLife)
	if !ok || t.Design.OwnClock || in.AcceptsFirst(plain, late) {
		return
	}
	for _, far := range []int64{tok.Under.Now.Add(1000 * time.Hour).Unix(), tok.Under.Now.Add(1000 * time.Hour).UnixMilli()} {
		sealed := in.Seal(fmt.Appendf(nil, `{"step":"x","exp":%[1]d,"expires":%[1]d,"expiry":%[1]d,"expiresAt":%[1]d,"expires_at":%[1]d}`, far), tok.Under)
		if sealed.Answer.Outcome != verdict.Done {
			continue
		}
		t.Refuses(codecs.Expiry, in, sealed, late, "a member of the state replaces the expiry of a token with a time to live of %s", claimedLife)
	}
}
