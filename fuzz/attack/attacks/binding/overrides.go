package binding

import (
	"fmt"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// overridden presents a token with arguments that contain members of the state with other
// values. The returned state must be the sealed one.
func (t trial) overridden(in *attack.Instance, tok *attack.Token) {
	t.namedClaims(in, tok)
	t.namedExpiry(tok)
	t.namedFields(in, tok)
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

// fieldNames are names of arguments that a reader may take for a field.
var fieldNames = map[codecs.Property][]string{
	codecs.BindsMethod: {"method", "op", "action"}, codecs.BindsTarget: {"name", "uri", "target", "tool", "resource"},
	codecs.BindsPrincipal: {"principal", "user", "sub", "subject", "userId", "user_id"}, codecs.BindsAudience: {"audience", "aud", "resource", "server"},
}

// namedFields compares contexts with and without a value of a field, whose arguments have a member
// of that value. A member must not stand for a field that is absent, empty or another.
func (t trial) namedFields(in *attack.Instance, tok *attack.Token) {
	for _, f := range fields.All {
		names, value := fieldNames[f.Property], f.Unrelated()[0]
		if names == nil || in.AcceptsFirst(tok, f.Put(tok.Under, value)) {
			continue // other attacks find a field that is not bound
		}
		var members []string
		for _, name := range names {
			members = append(members, fmt.Sprintf("%q:%q", name, value))
		}
		flat := "{" + strings.Join(members, ",") + "}"
		for _, arguments := range []string{flat, `{"_meta":` + flat + `}`, `{"params":` + flat + `}`, `{"arguments":` + flat + `}`} {
			t.namedField(in, fields.Arguments.Put(tok.Under, arguments), f, value)
		}
		for _, method := range fields.OtherMethods {
			if f.Property != codecs.BindsMethod {
				t.namedField(in, fields.Method.Put(fields.Arguments.Put(tok.Under, flat), method), f, value)
			}
		}
	}
}

// namedField compares a value of one field with an absent one, an empty one and another one.
func (t trial) namedField(in *attack.Instance, under codecs.Context, f fields.Field, value string) {
	with := f.Put(under, value)
	without := []codecs.Context{f.Put(under, ""), f.Put(under, f.Unrelated()[1])}
	if f.Optional() {
		without = append(without, f.Without(under))
	}
	for _, other := range without {
		const issue = "the %s %+q and another one are treated as the same, with a member of the arguments %.60q"
		t.between(in, with, other, f, issue, f.Name, value, under.Arguments)
		t.between(in, other, with, f, issue, f.Name, value, under.Arguments)
	}
	if t.Design.Worker != nil && !f.Optional() {
		t.namedAbsent(in, with, f)
	}
}

// namedAbsent compares a method or target with none. The contract always has both, so a fault does
// not count.
func (t trial) namedAbsent(in *attack.Instance, with codecs.Context, f fields.Field) {
	without := f.Put(with, worker.Absent)
	for _, c := range [][2]codecs.Context{{with, without}, {without, with}} {
		sealed := in.SealQuietly(t.State(8), c[0])
		if sealed.Answer.Outcome != verdict.Done {
			continue
		}
		t.Try(confusedBy(f)...)
		if call, ok := in.AcceptsQuietly(sealed.Answer.Out, c[1]); ok {
			t.RefuteEach(confusedBy(f), attack.Accepted,
				fmt.Sprintf("a %s and none are treated as the same, with a member of the arguments %.60q", f.Name, with.Arguments), sealed, call)
		}
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
