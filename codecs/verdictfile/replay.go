package verdictfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// An Answer is what a system, or the scheme in its place, says of a token.
type Answer struct {
	Accept bool
	State  []byte // of an accepted token, or the JSON text of its payload
	Reason string // of a refused one
}

// String returns the answer in words.
func (a Answer) String() string {
	if a.Accept {
		return fmt.Sprintf("accepted with %q", a.State)
	}
	return fmt.Sprintf("refused with %q", a.Reason)
}

// Replay presents the line's token to the scheme that answers as its system
// does, and reports whether the line agrees with the answer. Designs come from
// find. An error says that the line cannot be replayed.
func Replay(l Line, find func(name string) (codecs.Design, error)) (got Answer, agrees bool, err error) {
	name, err := l.System()
	if err != nil {
		return got, false, err
	}
	if name == caseSystem {
		return replayCase(l, find)
	}
	read, known := systems[name]
	if !known {
		return got, false, fmt.Errorf("sealab: no system %q; there are %s, %s", name, strings.Join(slices.Sorted(maps.Keys(systems)), ", "), caseSystem)
	}
	p, err := read(l)
	if err != nil {
		return got, false, err
	}
	if got, err = p.present(l, find); err != nil {
		return got, false, err
	}
	agrees, err = p.compare(l, got)
	return got, agrees, err
}

// present asks the scheme.
func (p *presentation) present(l Line, find func(string) (codecs.Design, error)) (Answer, error) {
	now, err := l.moment("now")
	if err != nil {
		return Answer{}, err
	}
	token, err := l.field("token")
	if err != nil {
		return Answer{}, err
	}
	if token.Kind != rawjson.String {
		if p.unread == "" {
			return Answer{}, fmt.Errorf("sealab: field \"token\" is %.40s, want a string", token.Raw)
		}
		return Answer{Reason: p.unread}, nil
	}
	d, err := find(p.design)
	if err != nil {
		return Answer{}, err
	}
	scheme, err := d.OpenScheme(p.config)
	if err != nil {
		return Answer{}, err
	}
	p.context.Now = now
	state, err := scheme.Verify(nil, token.Text, &p.context)
	if refused := codecs.Rejected(err); refused != nil {
		return Answer{Reason: refused.Reason}, nil
	}
	return Answer{Accept: err == nil, State: state}, err
}

// compare reports whether an answer is the line's.
func (p *presentation) compare(l Line, got Answer) (bool, error) {
	accept, err := l.truth("accept")
	if err != nil {
		return false, err
	}
	if accept != got.Accept {
		return false, nil
	}
	if accept {
		return p.judge(l, got.State)
	}
	if l.object.Lookup("reason") == nil {
		return true, nil
	}
	reason, err := l.text("reason")
	return strings.HasPrefix(reason, "crash:") || reason == got.Reason, err
}

// sameState compares a state with the line's as JSON can write it: two
// surrogates side by side and the character that they stand for are one text.
func sameState(l Line, state []byte) (bool, error) {
	want, err := l.text("state")
	if err != nil {
		return false, err
	}
	got, err := written.Parse(compactjson.AppendString(nil, state))
	return err == nil && want == string(got.Text), err
}

// samePayload compares JSON values, of which JavaScript's undefined is none.
func samePayload(l Line, state []byte) (bool, error) {
	want := l.object.Lookup("payload")
	if len(state) == 0 || want == nil {
		return len(state) == 0 && want == nil, nil
	}
	got, err := rawjson.Parse(state)
	return err == nil && sameValue(want, &got), err
}

// sameValue compares values as JavaScript has them: numbers are floats, and
// the last of several members with one name counts, in any order.
func sameValue(a, b *rawjson.Value) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) {
		return false
	}
	if a.Kind == rawjson.Number {
		return a.Float() == b.Float()
	}
	for i := range a.Items {
		if !sameValue(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	return bytes.Equal(a.Text, b.Text) && hasMembers(a, b) && hasMembers(b, a)
}

// hasMembers reports whether b has every member of a.
func hasMembers(a, b *rawjson.Value) bool {
	for i := range a.Members {
		name := string(a.Members[i].Name)
		other := b.Lookup(name)
		if other == nil || !sameValue(a.Lookup(name), other) {
			return false
		}
	}
	return true
}
