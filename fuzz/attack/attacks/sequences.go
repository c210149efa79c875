package attacks

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// sequenceAttacks are the attacks by random sequences of calls, whose answers a model predicts.
var sequenceAttacks = []attack.Attack{
	{ID: "SEQ-01", Name: "random sequences of calls, compared with a model", Layer: attack.LayerOracle, CWE: 488, Hundreds: 30,
		Refutes: append([]codecs.Property{codecs.Integrity, codecs.Rotation, codecs.ByteExact, codecs.Expiry, codecs.SingleUse}, fields.Properties...),
		Gain:    "a token that is judged by the verdict, the key or the context of another call", Origin: "caches of verdicts; state shared by handles, calls and keys",
		Run: onTrial(trial.sequencesOfCalls)},
	{ID: "SEQ-02", Name: "a handle after thousands of calls, keys of a closed one", Layer: attack.LayerOracle, CWE: 665, Hundreds: 70,
		Refutes: append([]codecs.Property{codecs.Integrity, codecs.Rotation, codecs.Expiry, codecs.SingleUse}, fields.Properties...),
		Gain:    "tokens that are verified less strictly than the first ones", Origin: "counters and lists that overflow; keys that are wiped while another handle uses them", Run: onToken(trial.manyCalls)},
}

// The size of the search, and the parameters of the model.
const (
	sequenceCount  = 3
	sequenceLength = 300
	modelKeys      = 4
	modelHandles   = 4
	modelTTL       = 600 * time.Second
)

// A model predicts the answers of a design whose only state is its used and its stored tokens.
type model struct {
	trial
	variants []contextVariant
	handles  []*modelHandle
	tokens   []*modelToken
	now      time.Duration // since the time of [attack.Ordinary]

	rings, shared, spends, expires, exact bool // abilities, which fresh instances show
}

// A contextVariant is a context that differs from the first one in one bound field.
type contextVariant struct {
	codecs.Context
	property codecs.Property // property of that field; "" for the first variant
}

type modelHandle struct {
	*attack.Instance
	ring []int
}

type modelToken struct {
	sealed  verdict.Call
	key     int // index of the key that sealed it
	variant int
	minted  time.Duration
	home    *modelHandle
	opened  []verdict.Call // the last call that accepted it
	lost    bool           // a restart may have lost it
}

// sequencesOfCalls mints, verifies, replays and alters tokens at several handles, while it
// changes the handles, the time and the process.
func (t trial) sequencesOfCalls() {
	for range sequenceCount {
		m, ok := t.newModel()
		if !ok {
			return
		}
		m.openHandle()
		for n := 0; n < sequenceLength && len(m.handles) > 0 && !t.Broken() && !t.Spent(); n++ {
			m.step()
		}
		m.lateAtFirst()
	}
}

// newModel determines the abilities of the design from fresh instances.
func (t trial) newModel() (*model, bool) {
	in, tok, ok := t.Base()
	if !ok {
		return nil, false
	}
	m := &model{trial: t, variants: []contextVariant{{Context: tok.Under}}, exact: bytes.Equal(tok.State, tok.Returned())}
	if t.Design.IsScheme() {
		for _, f := range fields.All {
			other := f.Put(tok.Under, f.Unrelated()[0])
			if _, present := f.Get(&tok.Under); present && !in.AcceptsFirst(tok, other) {
				m.variants = append(m.variants, contextVariant{other, f.Property})
			}
		}
	}
	_, err := t.Open(t.Secret(0), t.Secret(1))
	m.rings = err == nil
	if other, err := t.Open(t.Secret(0)); err == nil {
		_, m.shared = other.Accepts(tok.Text, tok.Under)
	}
	if again, ok := in.Mint(t.State(24), tok.Under); ok {
		in.Accepts(again.Text, tok.Under)
		_, twice := in.Accepts(again.Text, tok.Under)
		m.spends = !twice
	}
	if timed, err := m.open(0); err == nil && t.Design.IsScheme() && !t.Design.OwnClock {
		m.expires = !timed.AcceptsFirst(tok, attack.Later(tok.Under, 2*modelTTL))
	}
	return m, true
}

// step makes one random call, or changes a handle, the time or the process.
func (m *model) step() {
	h := m.handles[m.IntN(len(m.handles))]
	switch kind := m.IntN(24); {
	case kind == 0:
		m.openHandle()
	case kind == 1 && !m.Design.OwnClock:
		m.now += []time.Duration{time.Second, 90 * time.Second, 2 * modelTTL}[m.IntN(3)]
	case kind == 2 && m.IntN(8) == 0:
		m.restart()
	case kind == 3:
		h.Unseal(m.noToken(), m.variants[0].Context)
	case kind < 8 || len(m.tokens) == 0:
		m.mint(h)
	default:
		tok := m.tokens[max(0, len(m.tokens)-1-m.IntN(12))]
		v := tok.variant
		if m.IntN(2) == 0 {
			v = m.IntN(len(m.variants))
		}
		m.verify(h, tok, v, kind > 20)
	}
}

// noToken returns a text that is refused before any tag is compared: part of a token, or "x".
func (m *model) noToken() []byte {
	if len(m.tokens) == 0 || m.IntN(2) == 0 {
		return []byte("x")
	}
	text := m.tokens[len(m.tokens)-1].sealed.Answer.Out
	return text[:len(text)/2]
}

// openHandle opens a handle under a random ring. If there are modelHandles already, it replaces
// a random one.
func (m *model) openHandle() {
	h := &modelHandle{ring: m.Perm(modelKeys)[:1]}
	if m.rings {
		h.ring = m.Perm(modelKeys)[:1+m.IntN(3)]
	}
	var err error
	if h.Instance, err = m.open(h.ring...); err != nil {
		return
	}
	if len(m.handles) < modelHandles {
		m.handles = append(m.handles, h)
		return
	}
	m.handles[m.IntN(len(m.handles))] = h
}

// open opens the design under the keys with the given numbers.
func (m *model) open(ring ...int) (*attack.Instance, error) {
	return m.OpenFor(new(modelTTL), m.secrets(ring...)...)
}

// restart restarts the process, if there is one, and opens every handle again.
func (m *model) restart() {
	if m.Design.Restart == nil || m.Design.Restart() != nil {
		return
	}
	for _, h := range m.handles {
		if in, err := m.open(h.ring...); err == nil {
			h.Instance = in
		}
	}
	for _, tok := range m.tokens {
		tok.lost = true
	}
}

// lateAtFirst presents an expired token in the first call of a handle. If it is accepted and
// the next expired token is refused, the handle skips the check once.
func (m *model) lateAtFirst() {
	if !m.expires || !m.shared {
		return
	}
	for _, late := range []time.Duration{30 * time.Second, modelTTL / 2} {
		from, err := m.open(0)
		if err != nil {
			return
		}
		minted := m.at(0, m.now)
		first, second := from.Seal(m.State(24), minted), from.Seal(m.State(24), minted)
		m.now += modelTTL + late
		h, err := m.open(0)
		if err != nil || first.Answer.Outcome != verdict.Done || second.Answer.Outcome != verdict.Done {
			return
		}
		m.Try(codecs.Expiry)
		call, accepted := h.Accepts(first.Answer.Out, m.at(0, m.now))
		if !accepted {
			continue
		}
		if _, again := h.Accepts(second.Answer.Out, m.at(0, m.now)); !again {
			m.Refute(codecs.Expiry, fmt.Sprintf("the first call of a handle accepts a token %s after its end", late), first, call)
		}
	}
}

// at returns variant v at a time of the model.
func (m *model) at(v int, since time.Duration) codecs.Context {
	return attack.Later(m.variants[v].Context, since)
}

func (m *model) mint(h *modelHandle) {
	tok := &modelToken{key: h.ring[0], variant: m.IntN(len(m.variants)), minted: m.now, home: h}
	tok.sealed = h.Seal(m.State(16+m.IntN(8)), m.at(tok.variant, m.now))
	if tok.sealed.Answer.Outcome == verdict.Done {
		m.tokens = append(m.tokens, tok)
	}
}

// verify presents a token, or an alteration of it, in variant v and compares the answer
// with the model.
func (m *model) verify(h *modelHandle, tok *modelToken, v int, alter bool) {
	text := tok.sealed.Answer.Out
	if alter {
		if text = m.altered(h, tok); text == nil {
			return
		}
	}
	wrong, why := m.wrong(h, tok, v, alter)
	call, accepted := h.Accepts(text, m.at(v, m.now))
	if wrong != "" {
		m.Try(wrong)
	}
	switch {
	case accepted && wrong != "" && (wrong == codecs.SingleUse || !m.plainly(h, tok, v, alter)): // only this attack uses two handles
		m.Refute(wrong, "after other calls a token is accepted "+why, append(slices.Concat([]verdict.Call{tok.sealed}, tok.opened), call)...)
	case accepted && wrong == "" && m.exact && !bytes.Equal(call.Answer.Out, tok.sealed.State):
		m.Refute(codecs.ByteExact, "after other calls a token has the state of another one", tok.sealed, call)
	case !accepted && wrong == "" && m.owed(h, tok):
		m.refused(h, tok, call)
	}
	if accepted {
		tok.opened = []verdict.Call{call}
	}
}

// altered returns tok with one bit of its last segment changed.
func (m *model) altered(h *modelHandle, tok *modelToken) []byte {
	return lastAltered(h.TokenOf(tok.sealed, m.variants[tok.variant].Context))
}

// lastAltered returns tok with one bit in the middle of its last segment changed, or nil if no
// segment carries bytes.
func lastAltered(tok *attack.Token) []byte {
	f := tok.Format()
	last, ok := f.LastEncoded()
	if !ok || len(f.Segments[last].Bytes) == 0 {
		return nil
	}
	return f.Flip(last, len(f.Segments[last].Bytes)/2*8).Text
}

// wrong returns the property that an acceptance would refute, and why, or "" if the token may
// be accepted.
func (m *model) wrong(h *modelHandle, tok *modelToken, v int, alter bool) (codecs.Property, string) {
	switch {
	case alter:
		return codecs.Integrity, "with one bit changed"
	case !slices.Contains(h.ring, tok.key):
		return codecs.Rotation, "at a ring without its key"
	case m.expires && m.now-tok.minted >= 2*modelTTL:
		return codecs.Expiry, fmt.Sprintf("%s after it was minted", m.now-tok.minted)
	case v != tok.variant && v != 0:
		return m.variants[v].property, "in another context"
	case v != tok.variant:
		return m.variants[tok.variant].property, "in another context"
	case m.spends && m.Design.Claim(codecs.SingleUse) == verdict.Stated && len(tok.opened) > 0 && !tok.lost:
		return codecs.SingleUse, "for the second time"
	}
	return "", ""
}

// plainly reports whether a new token is accepted in the same wrong way without other calls in
// between. If so, other attacks find the weakness.
func (m *model) plainly(h *modelHandle, tok *modelToken, v int, alter bool) bool {
	from, err := m.open(tok.key)
	if err != nil {
		return true
	}
	fresh := &modelToken{sealed: from.Seal(tok.sealed.State, m.at(tok.variant, tok.minted))}
	text := fresh.sealed.Answer.Out
	if alter && len(text) > 0 {
		text = m.altered(&modelHandle{Instance: from}, fresh)
	}
	_, accepted := h.Accepts(text, m.at(v, m.now))
	return accepted || len(text) == 0 || len(tok.opened) == 0 && bytes.Equal(text, tok.sealed.Answer.Out)
}

// owed reports whether the design must accept the token now.
func (m *model) owed(h *modelHandle, tok *modelToken) bool {
	return !tok.lost && (m.shared || h == tok.home) && m.now-tok.minted < modelTTL/2 && !(m.spends && m.spent(tok))
}

// spent reports whether a token with the same text was accepted.
func (m *model) spent(tok *modelToken) bool {
	return slices.ContainsFunc(m.tokens, func(o *modelToken) bool {
		return len(o.opened) > 0 && bytes.Equal(o.sealed.Answer.Out, tok.sealed.Answer.Out)
	})
}

// refused records a finding if a new handle under the same ring accepts a token that h refused.
func (m *model) refused(h *modelHandle, tok *modelToken, call verdict.Call) {
	fresh, err := m.open(h.ring...)
	if err != nil || !m.shared {
		return
	}
	m.Try(codecs.Rotation)
	if accepted, ok := fresh.Accepts(tok.sealed.Answer.Out, m.at(tok.variant, m.now)); ok {
		m.RefuteIf(codecs.Rotation, attack.Anything, "after other calls a handle refuses a token of its ring, which a new handle accepts", tok.sealed, accepted, call)
	}
}
