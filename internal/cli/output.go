package cli

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/spf13/cobra"
)

// AddJSONFlag adds the flag --json to a command.
func AddJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "write JSON instead of text")
}

// WriteJSON writes v as indented JSON.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// WriteAs writes document as JSON, or calls text.
func WriteAs(out io.Writer, asJSON bool, document any, text func(io.Writer) error) error {
	if asJSON {
		return WriteJSON(out, document)
	}
	return text(out)
}

// NamedOrAll returns the values with the given names or, without names, all.
func NamedOrAll[T any](all []T, names []string, find func(name string) (T, error)) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	var found []T
	for _, name := range names {
		x, err := find(name)
		if err != nil {
			return nil, err
		}
		found = append(found, x)
	}
	return found, nil
}

// Quote quotes text. It leaves text without control characters unchanged
// inside the quotes.
func Quote(text string) string {
	if strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
