package sessions

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// An inheritance is a tool that keeps a word in a session of the first user, and a read-only tool that
// shows it there.
type inheritance struct {
	*review.T
	writer client.Flow
	reader client.Call
}

// inheritsWords gives words to tools in sessions of the first user and ends these. It records a finding
// if a session that the second user opens afterwards has the word, twice. One that was opened before,
// and two that are opened beside it, must not have it, because sessions may share a board.
func inheritsWords(t *review.T) {
	if !t.Options.Effects || len(t.Options.Target.Second) == 0 {
		return
	}
	for _, tool := range t.Changers() {
		x := inheritance{T: t, writer: t.FlowOf(tool)}
		label := "words of an ended session, by " + tool.Name
		if client.Mentions(tool.About(), review.AskingWords) || !review.TakesText(x.writer) || !t.Selected(label) {
			continue
		}
		evidence := ""
		for living := 1; living <= 2; living++ {
			if evidence = x.inherited(living); evidence == "" {
				break
			}
		}
		if evidence != "" {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a new session shows a user what another user's session kept, which has ended",
				Evidence: evidence, Want: "an empty session", Got: "the word of another user"})
			return
		}
	}
}

// laterSessions is the number of sessions that are opened after the end of another one. One of them must
// have its word.
const laterSessions = 3

// inherited gives a word to a session of the first user, and ends it. It returns the evidence that one of
// several later sessions of the second user has the word, or "". Some sessions are opened while the
// first one lives.
func (x inheritance) inherited(living int) string {
	s, ok := x.open(client.FirstUser)
	before, opened := x.open(client.SecondUser)
	defer deleteSession(x.T, before, client.SecondUser)
	word := x.Word()
	if !ok || !opened || !x.keeps(s, word) {
		return ""
	}
	for range living {
		beside, ok := x.open(client.SecondUser)
		_, shown, read := x.shows(beside, client.SecondUser, word)
		deleteSession(x.T, beside, client.SecondUser) // before the other one, so that this is the latest to end
		if !ok || !read || shown {
			return ""
		}
	}
	if deleteSession(x.T, s, client.FirstUser).Status/100 != 2 {
		return ""
	}
	var later []client.Session
	for range laterSessions {
		next, ok := x.open(client.SecondUser)
		if !ok {
			return ""
		}
		defer deleteSession(x.T, next, client.SecondUser)
		later = append(later, next)
	}
	heirs, evidence := map[string]bool{}, ""
	for _, next := range append(later, later...) {
		a, shown, read := x.shows(next, client.SecondUser, word)
		if !read || heirs[next.ID] && !shown {
			return ""
		}
		if shown {
			heirs[next.ID], evidence = true, fmt.Sprintf("the first user gave %s to %s and ended the session; then, in a new session of the second: %s", word, x.writer, review.ExchangeText(a))
		}
	}
	if _, shown, read := x.shows(before, client.SecondUser, word); len(heirs) != 1 || !read || shown {
		return ""
	}
	return evidence
}

// open opens a session with an ID, if the server does.
func (x inheritance) open(as client.User) (client.Session, bool) {
	a := x.Client.Initialize(x.Context, client.Older, as)
	if a.Kind != client.Completed {
		return client.Session{}, false
	}
	s := x.Client.FinishHandshake(x.Context, a, as)
	return s, s.ID != ""
}

// keeps gives a word to a session of the first user, and selects a reader that shows it there.
func (x *inheritance) keeps(s client.Session, word string) bool {
	call := x.writer.With(x.writer.ArgumentsWith(word)).Call(client.FirstUser)
	if a := x.Tried(inSession(x.T, s, client.FirstUser, requestOf(x.T, call))); a.Kind != client.Completed {
		return false
	}
	for _, o := range x.Readers() {
		x.reader = x.FlowOf(o).Call(client.FirstUser)
		if _, shown, _ := x.shows(s, client.FirstUser, word); shown {
			return true
		}
	}
	return false
}

// shows reports whether the reader shows a word in a session, and whether it can be read there.
func (x inheritance) shows(s client.Session, as client.User, word string) (a client.Answer, shown, read bool) {
	a = x.Tried(inSession(x.T, s, as, requestOf(x.T, x.reader)))
	return a, strings.Contains(string(a.Result), word), a.Kind == client.Completed
}
