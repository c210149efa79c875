package forgery

import (
	"encoding/json"

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
