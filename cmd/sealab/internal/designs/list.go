// Package designs holds the commands that list and choose designs.
package designs

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/cli"
	"sealab/internal/lab"
	"sealab/internal/table"
)

// NewList returns the command "list".
func NewList() *cobra.Command {
	var asJSON, sdks bool
	var holds []string
	cmd := &cobra.Command{
		Use:   "list [DESIGN]",
		Short: "List the designs, their sizes and their guarantees",
		Long: `List the designs of the catalog with the lengths of their tokens and the
properties that they claim, and the variants of designs. With a name, show one
design: the properties that it claims, and those that it disclaims, with the
reason. With --sdks, list the SDKs in other languages that run as workers, and
their versions if installed.`,
		Example: `  sealab list
  sealab list aes-256-gcm
  sealab list --holds key-committing --holds confidentiality
  sealab list --json
  sealab list --sdks
  sealab list --sdks --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			designs, err := designsClaiming(catalog.All(), holds)
			if err != nil {
				return err
			}
			switch out := cmd.OutOrStdout(); {
			case sdks && len(args) > 0:
				return fmt.Errorf("--sdks lists every SDK and takes no name")
			case len(args) > 0 && len(holds) > 0:
				return fmt.Errorf("--holds chooses among all designs: give it or the name %q", args[0])
			case sdks:
				return listSDKs(out, asJSON)
			case len(args) > 0:
				return listDesign(out, args[0], asJSON)
			case asJSON:
				return describeAll(out, designs)
			default:
				return writeDesigns(out, designs, holds)
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().StringSliceVar(&holds, "holds", nil, "list the designs that claim these properties")
	cmd.Flags().BoolVar(&sdks, "sdks", false, "list the SDKs in other languages")
	cmd.MarkFlagsMutuallyExclusive("sdks", "holds")
	cli.RenameFlag(cmd, "peers", "sdks")
	return cmd
}

func listDesign(out io.Writer, name string, asJSON bool) error {
	d, err := catalog.Find(name)
	if err != nil {
		return err
	}
	if asJSON {
		row, err := describeDesign(d)
		if err != nil {
			return err
		}
		return cli.WriteJSON(out, row)
	}
	return writeDesign(out, d)
}

// listedSizes are the payload sizes in bytes for which token lengths are shown.
var listedSizes = []int{0, 64, 1 << 10, 64 << 10}

// designsClaiming returns the designs that claim all given properties.
func designsClaiming(designs []codecs.Design, properties []string) ([]codecs.Design, error) {
	asked, err := cli.NamedOrAll(nil, properties, codecs.ParseProperty)
	if err != nil {
		return nil, err
	}
	for _, p := range asked {
		designs = slices.DeleteFunc(designs, func(d codecs.Design) bool {
			g, _ := d.Guarantee(p, nil)
			return !g.Holds
		})
	}
	return designs, nil
}

// variantLines returns a line for each preset that claims all given properties, or "".
func variantLines(properties []string, width int) (string, error) {
	designs, err := designsClaiming(catalog.Variants(), properties)
	if err != nil {
		return "", err
	}
	shown := 0
	t := table.New("lll")
	t.Row("VARIANT", "OF", "OPTIONS")
	for _, p := range catalog.Presets() {
		if !slices.ContainsFunc(designs, func(d codecs.Design) bool { return d.Name == p.Name }) {
			continue
		}
		var options []string
		for _, name := range slices.Sorted(maps.Keys(p.Options)) {
			options = append(options, name+"="+p.Options[name])
		}
		t.Row(p.Name, p.Of, strings.Join(options, " "))
		shown++
	}
	if shown == 0 {
		return "", nil
	}
	return "\nA variant is a design with other defaults.\n\n" + t.Text(width), nil
}

// writeDesigns writes one line for each design, with one character for each
// property, then a legend and the variants that claim the same properties.
func writeDesigns(out io.Writer, ds []codecs.Design, holds []string) error {
	properties := codecs.Properties()
	letters := make([]byte, len(properties))
	for i := range letters {
		letters[i] = byte('a' + i)
	}
	t := table.New("lrrl")
	t.Row("DESIGN", "64 B", "1 KiB", string(letters))
	for _, d := range ds {
		row := []string{d.Name}
		for _, n := range []int{64, 1 << 10} {
			length, err := lab.TokenLength(d, n)
			if err != nil {
				return err
			}
			row = append(row, strconv.Itoa(length))
		}
		t.Row(append(row, propertyMarks(d, properties))...)
	}
	legend := table.New("ll")
	half := (len(properties) + 1) / 2
	for i := range half {
		row := []string{string(letters[i]) + " " + string(properties[i].Property)}
		if j := i + half; j < len(properties) {
			row = append(row, string(letters[j])+" "+string(properties[j].Property))
		}
		legend.Row(row...)
	}
	width := table.Width(out)
	presets, err := variantLines(holds, width)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `%s
The sizes are measured lengths of tokens in bytes. + is claimed, - disclaimed,
and a blank does not apply. "sealab list DESIGN" gives the reasons.

%s%s`, t.Text(width), legend.Text(width), presets)
	return err
}

// propertyMarks returns one character for each property: + if the design claims
// it, - if it disclaims it.
func propertyMarks(d codecs.Design, properties []codecs.PropertyInfo) string {
	line := bytes.Repeat([]byte{' '}, len(properties))
	for i, p := range properties {
		if g, ok := d.Guarantee(p.Property, nil); ok {
			line[i] = '-'
			if g.Holds {
				line[i] = '+'
			}
		}
	}
	return string(line)
}

// writeDesign writes the complete row of a design.
func writeDesign(out io.Writer, d codecs.Design) error {
	tokens, err := tokenLengths(d)
	if err != nil {
		return err
	}
	facts := table.New("ll").AtMargin()
	facts.Row("kind", string(d.Kind()))
	facts.Row("specification", d.Spec)
	facts.Row("prefix", strconv.Quote(d.Prefix))
	facts.Row("secrets", describeSecrets(d))
	for _, t := range tokens {
		facts.Row("token of "+strconv.Itoa(t.Payload)+" B", strconv.Itoa(t.Token)+" B")
	}
	for _, o := range d.Options {
		facts.Row("option "+o.Name, fmt.Sprintf("%s: %s (default %s)", o.Doc, strings.Join(o.Values, ", "), o.Values[0]))
	}
	if lab.HooksOf(d).Allocates != "" {
		facts.Row("allocates", lab.HooksOf(d).Allocates)
	}
	width := table.Width(out)
	text := fmt.Sprintf("%s: %s\n\n%s\n%s", d.Name, d.Doc, facts.Text(width), guaranteeTable(d.GuaranteesFor(nil)).Text(width))
	for _, o := range d.Options {
		for _, value := range o.Values[1:] {
			if changed := changedGuarantees(d, map[string]string{o.Name: value}); len(changed) > 0 {
				text += fmt.Sprintf("\nunder %s=%s:\n%s", o.Name, value, guaranteeTable(changed).Text(width))
			}
		}
	}
	_, err = io.WriteString(out, text)
	return err
}

// guaranteeTable returns a line for each guarantee.
func guaranteeTable(all []codecs.Guarantee) *table.Table {
	t := table.New("lll").AtMargin()
	for _, g := range all {
		word, promise := "disclaims", ""
		for _, p := range codecs.Properties() {
			if p.Property == g.Property {
				promise = p.Promise
			}
		}
		if g.Holds {
			word = "claims"
		}
		t.Row(string(g.Property), word, cmp.Or(g.Reason, promise))
	}
	return t
}

// changedGuarantees returns the guarantees that differ under options from the
// default.
func changedGuarantees(d codecs.Design, options map[string]string) []codecs.Guarantee {
	return slices.DeleteFunc(d.GuaranteesFor(options), func(g codecs.Guarantee) bool {
		was, _ := d.Guarantee(g.Property, nil)
		return was.Holds == g.Holds
	})
}

// describeSecrets describes the secrets that a design takes.
func describeSecrets(d codecs.Design) string {
	size := fmt.Sprintf("%d bytes or more", codecs.MinSecret)
	if d.KeySize > 0 {
		size = fmt.Sprintf("exactly %d bytes", d.KeySize)
	}
	if d.MaxKeys > 0 {
		return fmt.Sprintf("%s each, at most %d in a ring", size, d.MaxKeys)
	}
	return size + " each, any number in a ring"
}

// A Document is a design's row as JSON.
type Document struct {
	Name       string            `json:"name"`
	Kind       codecs.Kind       `json:"kind"`
	Doc        string            `json:"doc"`
	Spec       string            `json:"specification"`
	Prefix     string            `json:"prefix"`
	Primitive  string            `json:"primitive,omitempty"`
	Amortized  bool              `json:"amortised,omitempty"`
	Allocates  string            `json:"allocates,omitempty"`
	MinSecret  int               `json:"min_secret_bytes"`
	KeySize    int               `json:"secret_bytes,omitempty"` // exact
	MaxKeys    int               `json:"max_keys,omitempty"`
	Tokens     []tokenLength     `json:"tokens,omitempty"`
	Options    []optionChoice    `json:"options,omitempty"`
	Guarantees []statedGuarantee `json:"guarantees"`
}

type tokenLength struct {
	Payload int `json:"payload_bytes"`
	Token   int `json:"token_bytes"`
}

type optionChoice struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Values []string `json:"values"` // the first is the default
}

type statedGuarantee struct {
	Property codecs.Property `json:"property"`
	Holds    bool            `json:"holds"`
	Reason   string          `json:"reason,omitempty"`
}

func describeAll(out io.Writer, ds []codecs.Design) error {
	all := make([]Document, 0, len(ds))
	for _, d := range ds {
		row, err := describeDesign(d)
		if err != nil {
			return err
		}
		all = append(all, row)
	}
	return cli.WriteJSON(out, all)
}

// tokenLengths returns the lengths of tokens of a design. The state of a scheme
// is JSON text, so it is never empty.
func tokenLengths(d codecs.Design) ([]tokenLength, error) {
	var all []tokenLength
	for _, n := range listedSizes {
		if n == 0 && d.IsScheme() {
			continue
		}
		length, err := lab.TokenLength(d, n)
		if err != nil {
			return nil, err
		}
		all = append(all, tokenLength{n, length})
	}
	return all, nil
}

func describeDesign(d codecs.Design) (Document, error) {
	tokens, err := tokenLengths(d)
	if err != nil {
		return Document{}, err
	}
	row := Document{
		Name: d.Name, Kind: d.Kind(), Doc: d.Doc, Spec: d.Spec, Prefix: d.Prefix,
		Primitive: lab.HooksOf(d).Primitive, Amortized: lab.HooksOf(d).Amortized, Allocates: lab.HooksOf(d).Allocates,
		MinSecret: codecs.MinSecret, KeySize: d.KeySize, MaxKeys: d.MaxKeys, Tokens: tokens,
	}
	for _, o := range d.Options {
		row.Options = append(row.Options, optionChoice{o.Name, o.Doc, o.Values})
	}
	for _, g := range d.GuaranteesFor(nil) {
		row.Guarantees = append(row.Guarantees, statedGuarantee(g))
	}
	return row, nil
}
