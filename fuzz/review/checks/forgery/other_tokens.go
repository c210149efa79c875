package forgery

import (
	"encoding/json"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// presentStamped presents changed states with the tags that tools return for any text. Some servers
// sign both with one key.
func presentStamped(t *review.T) {
	if t.Oracle.Presence || len(t.Findings) > 0 {
		return
	}
	t.ForEachFlow(func(o *review.Oracle) {
		for _, f := range stampingCalls(t, o.Token) {
			presentVariants(t, review.Critical, "a changed state under the tag that "+f.Target+" gives", func(token string) []tokens.Variant {
				return tokens.Stamped(token, func(message string) string { return stampOf(t, f, message) })
			})
		}
	})
}

// stampOf returns the texts that a call gives for a text, or "".
func stampOf(t *review.T, f client.Flow, text string) string {
	arguments := f.ArgumentsWith(text)
	if arguments == nil {
		return "" // too long
	}
	a := t.Call(f.With(arguments).Call(t.Oracle.User))
	if a.Kind != client.Completed {
		return ""
	}
	return a.Text
}

// stampingCalls returns calls that take a text, do not ask, and return a text as long as a tag of the
// token, which depends on theirs.
func stampingCalls(t *review.T, token string) []client.Flow {
	var all []client.Flow
	if len(tokens.Views(token)) == 0 {
		return nil
	}
	for _, tool := range append(t.Readers(), t.Changers()...) {
		f := t.FlowOf(tool)
		if len(all) == review.MaxTestedCalls || !review.TakesText(f) {
			continue
		}
		one := t.Word()
		if text := stampOf(t, f, one); tokens.HasStamp(text, token) && text == stampOf(t, f, one) && text != stampOf(t, f, t.Word()) {
			all = append(all, f)
		}
	}
	return all
}

// presentCopied presents tokens, such as cursors, that tools give for the changed contents of a state.
// Some servers make both with one key, and copy an argument into one of them.
func presentCopied(t *review.T) {
	if t.Oracle.Presence || len(t.Findings) > 0 || len(tokens.Views(t.Oracle.Token)) == 0 {
		return
	}
	t.ForEachFlow(func(*review.Oracle) {
		for _, x := range copyingArguments(t) {
			presentVariants(t, review.Critical, "a token that "+x.call.Target+" gives for the changed contents of a state", func(token string) []tokens.Variant {
				return tokens.Copied(token, func(object json.RawMessage) string { return x.copyOf(t, object) })
			})
		}
	})
}

// A copyingArgument is an argument whose contents come back in a token.
type copyingArgument struct {
	call   client.Flow
	name   string
	quoted bool // the argument is a text
}

// copyOf returns the token in the result for an object as the argument, or "".
func (x copyingArgument) copyOf(t *review.T, object json.RawMessage) string {
	value := object
	if x.quoted {
		value = jsondoc.Quote(string(object))
	}
	a := t.Call(x.call.WithArgument(x.name, value).Call(t.Oracle.User))
	if a.Kind != client.Completed {
		return ""
	}
	return tokens.Holder(string(a.Result), object)
}

// copyingArguments returns the arguments of tools whose made-up members come back in a token.
func copyingArguments(t *review.T) []copyingArgument {
	var all []copyingArgument
	for _, tool := range append(t.Readers(), t.Changers()...) {
		for name, s := range jsondoc.Fields(tool.Input) {
			x := copyingArgument{t.FlowOf(tool), name, s.TypeOf() == "string"}
			if len(all) == review.MaxTestedCalls || s.TypeOf() != "object" && !s.AnyText() {
				continue
			}
			if x.copyOf(t, jsondoc.Object(jsondoc.Arguments{"sealab_member": jsondoc.Quote(t.Word())})) != "" {
				all = append(all, x)
			}
		}
	}
	return all
}

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
