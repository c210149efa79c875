package tokens

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/cli"
	"sealab/internal/lab"
	"sealab/internal/table"
)

// NewInspect returns the command "inspect".
func NewInspect() *cobra.Command {
	var name, captured string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect [TOKEN]",
		Short: "Show the fields of a token, without any key",
		Long: `Show the fields of a token that is given as an argument or on standard input. It
needs no key and verifies nothing: anyone who has the token can see the same
fields, and a forged token looks like a good one.

If several designs recognize the token, all are shown; --design selects one.

With --capture, test the randomness of the tokens in a file: find the bytes that
vary, and print their entropy, their collisions, and the statistical tests that
they fail. The state of a readable token varies and is not random; this is not a
fault.`,
		Example: `  printf '{"step":1}' | sealab seal hmac-sha256 --keys secret.key | sealab inspect
  sealab inspect --json sh1.foMHpHsic3RlcCI6MX13iG1TivIp3yLNDLXs-xQmtcD7DBNPrjDQmQ8aTUk3Dg
  sealab inspect --capture tokens.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if captured != "" {
				return inspectCapture(cmd.OutOrStdout(), captured, args, name, asJSON)
			}
			token, err := tokenArgument(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			found, err := readFields(token, name)
			if err != nil {
				return err
			}
			return cli.WriteAs(cmd.OutOrStdout(), asJSON, found, func(w io.Writer) error { return writeAnatomies(w, found) })
		},
	}
	cmd.Flags().StringVar(&name, "design", "", "read the token as one of this `design`")
	cmd.Flags().StringVar(&captured, "capture", "", "test the randomness of the tokens in a `file`, one per line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON, with every byte in hexadecimal")
	return cmd
}

// tokenArgument returns the only argument, or standard input if the argument is
// missing or "-".
func tokenArgument(stdin io.Reader, args []string) ([]byte, error) {
	if len(args) == 1 && args[0] != "-" {
		return []byte(args[0]), nil
	}
	token, err := readToken(stdin)
	if err == nil && len(token) == 0 {
		return nil, errors.New("standard input is empty; want a token")
	}
	return token, err
}

// An Anatomy is a token as one or more designs read it, all in the same way.
type Anatomy struct {
	Designs []string `json:"designs"`
	Fields  []field  `json:"fields"`
}

// A field is one part of a token.
type field struct {
	Name     lab.Step `json:"name"`
	Size     int      `json:"bytes"`
	Hex      string   `json:"hex"`
	Readable bool     `json:"readable"`
	Time     string   `json:"time,omitempty"` // the time in the field
}

// readFields splits token into fields as the named design does or, if name is
// empty, as every design that recognizes it.
func readFields(token []byte, name string) ([]Anatomy, error) {
	if name != "" {
		d, err := catalog.Find(name)
		if err != nil {
			return nil, err
		}
		fields, err := fieldsOf(d, token)
		return []Anatomy{{[]string{d.Name}, fields}}, err
	}
	var found []Anatomy
	for _, d := range catalog.All() {
		if !bytes.HasPrefix(token, []byte(d.Prefix)) {
			continue
		}
		if fields, err := fieldsOf(d, token); err == nil {
			found = mergeAnatomy(found, d.Name, fields)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no design recognizes the token of %d characters; --design DESIGN prints the reason, and \"sealab identify\" knows other formats", len(token))
	}
	return found, nil
}

// mergeAnatomy adds the fields that a design reads to those of other designs.
func mergeAnatomy(found []Anatomy, name string, fields []field) []Anatomy {
	for i := range found {
		if slices.Equal(found[i].Fields, fields) {
			found[i].Designs = append(found[i].Designs, name)
			return found
		}
	}
	return append(found, Anatomy{[]string{name}, fields})
}

func fieldsOf(d codecs.Design, token []byte) ([]field, error) {
	parts, err := lab.HooksOf(d).Inspect(token)
	if err != nil {
		return nil, err
	}
	fields := make([]field, 0, len(parts))
	for _, f := range parts {
		part := field{f.Name, len(f.Bytes), hex.EncodeToString(f.Bytes), f.Readable, ""}
		if !f.Time.IsZero() {
			part.Time = f.Time.Format(time.RFC3339)
		}
		fields = append(fields, part)
	}
	return fields, nil
}

func writeAnatomies(out io.Writer, found []Anatomy) error {
	for i, a := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		t := table.New("llll")
		for _, f := range a.Fields {
			t.Row(string(f.Name), fmt.Sprintf("%d B", f.Size), f.value(), f.Time)
		}
		if _, err := fmt.Fprintf(out, "%s\n%s", strings.Join(a.Designs, ", "), t.Text(table.Width(out))); err != nil {
			return err
		}
	}
	return nil
}

// maxShown is the maximum length in characters of a value that is shown in
// full.
const maxShown = 96

// value returns the field's bytes for display: as text if they are readable
// text, else in hexadecimal. Long values are truncated. A key ID is never shown
// as text.
func (f field) value() string {
	text := f.Hex
	if raw, err := hex.DecodeString(f.Hex); err == nil && f.Readable && f.Name != lab.WireKeyID && utf8.Valid(raw) {
		text = cli.Quote(string(raw))
	}
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "..."
	}
	return text
}

// inspectCapture prints the results of randomness tests of the tokens in a
// file.
func inspectCapture(w io.Writer, file string, args []string, design string, asJSON bool) error {
	if len(args) > 0 || design != "" || asJSON {
		return fmt.Errorf("--capture takes no token, no --design and no --json")
	}
	c, err := readCapture(file)
	if err != nil {
		return err
	}
	return c.write(w)
}

// A captureReport holds the results of randomness tests of captured tokens.
type captureReport struct {
	Tokens   int // in the file
	Tested   int // tokens of the most common length
	Repeated int // tokens that occur more than once
	// Runs are the runs of freely varying bytes in the decoded tokens.
	Runs []tokenfmt.RandomnessReport
}

// readCapture tests the tokens in a file with one token per line.
func readCapture(name string) (*captureReport, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	seen, byLength := map[string]int{}, map[int][][]byte{}
	c := &captureReport{}
	var first []byte
	for line := range bytes.Lines(data) {
		token := bytes.TrimRight(line, "\r\n")
		if len(token) == 0 {
			continue
		}
		if first == nil {
			first = token
		}
		c.Tokens++
		if seen[string(token)]++; seen[string(token)] == 2 {
			c.Repeated++
		}
		raw := tokenfmt.Infer(token, first).Bytes()
		byLength[len(raw)] = append(byLength[len(raw)], raw)
	}
	var most [][]byte
	for _, n := range slices.Sorted(maps.Keys(byLength)) {
		if len(byLength[n]) > len(most) {
			most = byLength[n]
		}
	}
	if c.Tested = len(most); c.Tested < tokenfmt.MinTokens {
		return nil, fmt.Errorf("%s: got %d tokens of one length, want at least %d", name, c.Tested, tokenfmt.MinTokens)
	}
	c.Runs = tokenfmt.RandomRuns(most)
	return c, nil
}

// write prints the capture as a table, followed by the failed tests.
func (c *captureReport) write(w io.Writer) error {
	fmt.Fprintf(w, "%d tokens, %d tested of one length, %d repeated\n", c.Tokens, c.Tested, c.Repeated)
	t := table.New("rrrrrl")
	t.Row("byte", "bytes", "min-entropy/byte", "effective bits", "collisions", "tests")
	for _, r := range c.Runs {
		t.Row(strconv.Itoa(r.From), strconv.Itoa(r.Bytes), fmt.Sprintf("%.2f", r.MinEntropy), fmt.Sprintf("%.1f", r.EffectiveBits), strconv.Itoa(r.Collisions), cmp.Or(r.Failed(), "passed"))
	}
	return t.Write(w)
}
