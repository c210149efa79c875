package attack

import (
	"encoding/json"
	"fmt"

	"sealab/fuzz/review"
)

// A toolFlag is a flag that belongs to a --tool. It implements pflag.Value.
type toolFlag struct {
	name  string
	tools *[]string
	texts []string
	after []int // the number of --tool in front of each text
}

// Set implements pflag.Value.
func (f *toolFlag) Set(text string) error {
	f.texts, f.after = append(f.texts, text), append(f.after, len(*f.tools))
	return nil
}

// String implements pflag.Value.
func (f *toolFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *toolFlag) Type() string { return "JSON" }

// byTool returns the text for each --tool, which must be a JSON object. A text belongs to the --tool in
// front of it. If all texts stand behind the last --tool, the first belongs to the first one, and so on.
func (f *toolFlag) byTool() ([]json.RawMessage, error) {
	all, grouped := make([]json.RawMessage, len(*f.tools)), true
	for _, n := range f.after {
		grouped = grouped && n == len(*f.tools)
	}
	for i, text := range f.texts {
		at := f.after[i] - 1
		if grouped {
			at = i
		}
		if at < 0 || at >= len(all) || all[at] != nil {
			return nil, fmt.Errorf("--%s %s: want one behind each --tool", f.name, text)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, fmt.Errorf("--%s: %w; want a JSON object", f.name, err)
		}
		all[at] = json.RawMessage(text)
	}
	return all, nil
}

// givenTools returns the named tools with the arguments that belong to them, or nil without a --tool.
func (f *reviewFlags) givenTools() (map[string]review.Given, error) {
	args, err := f.args.byTool()
	if err != nil {
		return nil, err
	}
	other, err := f.other.byTool()
	if err != nil || len(f.tools) == 0 {
		return nil, err
	}
	given := map[string]review.Given{}
	for i, tool := range f.tools {
		given[tool] = review.Given{Arguments: args[i], Other: other[i]}
	}
	return given, nil
}
