package tokens

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sealab/analysis/identify"
	"sealab/codecs/keyfile"
	"sealab/internal/cli"
	"sealab/internal/table"
)

// NewIdentify returns the command "identify".
func NewIdentify() *cobra.Command {
	var keys string
	var common, asJSON bool
	cmd := &cobra.Command{
		Use:   "identify [INPUT]",
		Short: "Identify the format of a token, and the library that may have made it",
		Long: `Identify the format of a token and the library that may have made it. Print the
fields that anyone can read, the guarantees of the format, and the command that
attacks it. The input, an argument or standard input, is a token, a Cookie or
Set-Cookie header, or an HTTP archive (HAR) as browsers save it. From an archive
the command reads cookies, bearer tokens and requestState members.

Formats are recognized by their structure: if several share it, all are listed.
With --keys or --common-keys, keys are tried on each candidate.

Exit status: 0 if a token has a known format, 1 if a key opens one, 2 if no
format is known.`,
		Example: `  sealab identify gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA== --common-keys
  sealab identify --json < archive.har
  sealab identify --keys secret.key < cookie.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := tokenArgument(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			tries, err := keysToTry(keys, common)
			if err != nil {
				return err
			}
			answers, unknown := identifyAll(input, tries)
			if unknown != nil && (!asJSON || answers == nil) {
				return unknown
			}
			err = cli.WriteAs(cmd.OutOrStdout(), asJSON, answers, func(w io.Writer) error { return writeIdentities(w, answers, len(tries)) })
			if err != nil {
				return err
			}
			return cmp.Or(unknown, refutedIfOpened(answers))
		},
	}
	cmd.Flags().StringVar(&keys, "keys", "", "try the secrets of this key `file`, in the form of sealab seal")
	cmd.Flags().BoolVar(&common, "common-keys", false, "try keys from the documentation of frameworks")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// keysToTry returns the keys that the flags select.
func keysToTry(path string, common bool) ([]identify.Key, error) {
	var keys []identify.Key
	if path != "" {
		secrets, err := keyfile.Read(path)
		if err != nil {
			return nil, err
		}
		for i, s := range secrets {
			keys = append(keys, identify.Key{Name: fmt.Sprintf("secret %d of %s", i+1, path), Secret: s})
		}
	}
	if !common {
		return keys, nil
	}
	published, err := identify.CommonKeys()
	return append(keys, published...), err
}

// identifyAll returns an answer for each text in the input. It also returns an
// error if no text has a known format.
func identifyAll(input []byte, keys []identify.Key) ([]identify.Answer, error) {
	found, err := identify.Extract(input)
	if err != nil {
		return nil, err
	}
	id, known := identify.New(), false
	answers := make([]identify.Answer, 0, len(found))
	for _, f := range found {
		a := id.Identify(f.Token)
		a.From = f.From
		a.Try(keys)
		known = known || len(a.Candidates) > 0
		answers = append(answers, a)
	}
	if !known {
		return answers, fmt.Errorf("no known format among the texts of the input (%d); want a token, a cookie header or an HTTP archive", len(found))
	}
	return answers, nil
}

// refutedIfOpened returns cli.ErrRefuted if a key opens a token.
func refutedIfOpened(answers []identify.Answer) error {
	for _, a := range answers {
		for _, c := range a.Candidates {
			if c.Key != "" {
				return cli.ErrRefuted
			}
		}
	}
	return nil
}

func writeIdentities(out io.Writer, answers []identify.Answer, keys int) error {
	width := table.Width(out)
	for i, a := range answers {
		if i > 0 {
			fmt.Fprintln(out)
		}
		place := "token"
		if a.From != "" {
			place = a.From
		}
		switch {
		case len(a.Candidates) == 0:
			fmt.Fprintf(out, "%s: no known format\n", cli.Quote(place))
		case a.Named() == nil:
			fmt.Fprintf(out, "%s: cannot be told; one of %d formats\n", cli.Quote(place), len(a.Candidates))
		default:
			fmt.Fprintf(out, "%s: %s\n", cli.Quote(place), a.Named().Format)
		}
		for _, c := range a.Candidates {
			fmt.Fprintf(out, "\n%s", candidateTable(c, keys).Text(width))
		}
	}
	_, err := fmt.Fprintln(out, "\nNothing was verified. To review an MCP server that mints such tokens: sealab review URL")
	return err
}

// candidateTable returns the table for one candidate.
func candidateTable(c identify.Candidate, keys int) *table.Table {
	t := table.New("ll")
	t.Row("format", c.Format)
	t.Row("made by", c.Library)
	for _, f := range c.Fields {
		text := strconv.Itoa(f.Bytes) + " B"
		if f.Text != "" {
			value := []rune(cli.Quote(f.Text))
			if len(value) > maxShown {
				value = append(value[:maxShown], []rune("...")...)
			}
			text += " " + string(value)
		}
		if f.Time != "" {
			text += " " + f.Time
		}
		t.Row(f.Name, text)
	}
	t.Row("holds", strings.Join(c.Holds, ", "))
	t.Row("lacks", strings.Join(c.Lacks, "; "))
	t.Row("attack", c.Attack)
	switch {
	case c.Key != "":
		t.Row("key", "opened by "+cli.Quote(c.Key))
	case keys > 0:
		t.Row("key", fmt.Sprintf("none of %d keys opens it", keys))
	}
	return t
}
