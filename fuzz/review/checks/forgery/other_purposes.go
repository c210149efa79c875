package forgery

import (
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// presentOtherPurposes presents texts of results that may be tokens, such as those of links, as states in each
// round of each flow. Some servers make both with one key and in one form. A tool may show states that were
// given in questions; these are no others.
func presentOtherPurposes(t *review.T) {
	tried := 0
	for _, f := range t.Flows {
		if f.Last == nil {
			continue
		}
		for _, tool := range append(t.Readers(), t.Changers()...) {
			if tried == review.MaxTestedCalls || len(t.Findings) > 0 {
				return
			}
			call := t.FlowOf(tool).Sharing(f)
			held := otherTexts(t, call)
			if len(held) > 0 {
				tried++
			}
			for i := range held {
				t.PresentOtherText("a text that "+tool.Name+" gives", func() string {
					if again := otherTexts(t, call); i < len(again) {
						return again[i]
					}
					return review.GarbageState
				})
			}
		}
	}
}

// newSecond is a time after which a state with the time in seconds differs from earlier ones.
const newSecond = 1100 * time.Millisecond

// otherTexts returns the texts in the result of a call that may be tokens and are not known as states. A
// token of this second may be equal to a state, so that it is asked for again in the next one.
func otherTexts(t *review.T, call client.Flow) []string {
	all, known := heldBy(t, call)
	if known && t.Client.Clock.Sleep(t.Context, newSecond) == nil {
		all, _ = heldBy(t, call)
	}
	return all
}

// heldBy returns the texts in the result of a call that may be tokens, and whether it left known states out.
func heldBy(t *review.T, call client.Flow) (all []string, known bool) {
	a := t.Call(call.Call(t.Oracle.User))
	if a.Kind != client.Completed {
		return nil, false
	}
	for _, text := range tokens.Held(string(jsondoc.Object(jsondoc.Without(jsondoc.Members(a.Result), "_meta")))) {
		if t.Client.Given[text] {
			known = true
		} else if !holdsState(t, text) {
			all = append(all, text)
		}
	}
	return all, known
}

// holdsState reports whether a text ends with a known state, as a URL with one does.
func holdsState(t *review.T, text string) bool {
	for state := range t.Client.Given {
		if strings.HasSuffix(text, state) {
			return true
		}
	}
	return false
}
