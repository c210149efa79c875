package tokens

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// maxAdded is the number of members of a readable object that Added repeats.
const maxAdded = 12

// Added returns tokens whose readable objects have one more member, in front or at the end: one of their own names, as
// it is or with other capital letters, and with the digits as its number or at the end of its text.
func Added(token, digits string) []Variant {
	var all []Variant
	for _, v := range Views(token) {
		inside := strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(v.text(token)), "}"), "{"))
		names := jsondoc.SortedKeys(v.Object)
		for _, name := range names[:min(len(names), maxAdded)] {
			value := digits
			switch old := string(v.Object[name]); {
			case strings.HasPrefix(old, `"`):
				value = `"sealab` + digits + `"`
			case strings.Trim(old, "-.0123456789") != "":
				continue // neither a number nor a text
			}
			forms := []string{name, strings.ToUpper(name), strings.ToLower(name), strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]}
			slices.Sort(forms)
			for _, form := range slices.Compact(forms) {
				member := string(jsondoc.Quote(form)) + ":" + value
				for _, object := range []struct{ place, text string }{{"front", "{" + member + "," + inside + "}"}, {"end", "{" + inside + "," + member + "}"}} {
					all = append(all, Variant{Name: fmt.Sprintf("a member %s of segment %d at the %s", form, v.Segment, object.place), Text: v.Write(token, json.RawMessage(object.text))})
				}
			}
		}
	}
	return all
}
