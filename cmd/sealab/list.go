package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
)

func newListCommand() *cobra.Command {
	var asJSON, peers bool
	cmd := &cobra.Command{
		Use:   "list [DESIGN]",
		Short: "List the designs, their sizes and their guarantees",
		Long: `List the designs of the catalog: what they are, how long their tokens are, and
how many of the properties that apply to them they promise. With a name, show
everything that one design says of itself: each property that it holds, and each
that it disclaims, with the reason. With --peers, list instead the
implementations in other languages that run as workers, and which of them are
installed.`,
		Example: `  sealab list
  sealab list aes-256-gcm
  sealab list --json
  sealab list --peers`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch out := cmd.OutOrStdout(); {
			case peers && len(args) > 0:
				return fmt.Errorf("sealab: --peers lists every peer and takes no name")
			case peers:
				return listPeers(out)
			case len(args) > 0:
				return listDesign(out, args[0], asJSON)
			case asJSON:
				return writeJSON(out, describeAll(catalog.All()))
			default:
				return writeDesigns(out, catalog.All())
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVar(&peers, "peers", false, "list the peers")
	cmd.MarkFlagsMutuallyExclusive("json", "peers")
	return cmd
}

func listDesign(out io.Writer, name string, asJSON bool) error {
	d, err := catalog.Find(name)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(out, describe(d))
	}
	return writeDesign(out, d)
}

// listedSizes are the payload sizes in bytes whose tokens are shown.
var listedSizes = []int{0, 64, 1 << 10, 64 << 10}

// tokenSize returns the token size of an n-byte payload for a person.
func tokenSize(d codecs.Design, n int) string {
	if lab.HooksOf(d).TokenSize == nil {
		return "varies"
	}
	return strconv.Itoa(lab.HooksOf(d).TokenSize(n))
}

// writeDesigns writes one line for each design.
func writeDesigns(out io.Writer, ds []codecs.Design) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DESIGN\tKIND\tPREFIX\t0 B\t64 B\t1 KiB\t64 KiB\tHOLDS\tWHAT IT IS")
	for _, d := range ds {
		fmt.Fprintf(w, "%s\t%s\t%s", d.Name, d.Kind(), d.Prefix)
		for _, n := range listedSizes {
			fmt.Fprintf(w, "\t%s", tokenSize(d, n))
		}
		holds := 0
		for _, g := range d.GuaranteesFor(nil) {
			if g.Holds {
				holds++
			}
		}
		fmt.Fprintf(w, "\t%d of %d\t%s\n", holds, len(d.GuaranteesFor(nil)), d.Doc)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, `The sizes are those of tokens, in bytes, for payloads of 0 B to 64 KiB. HOLDS counts
the guarantees; "sealab list DESIGN" shows them one by one, with reasons.`)
	return w.Flush()
}

// writeDesign writes everything that a design says of itself.
func writeDesign(out io.Writer, d codecs.Design) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s\n\n", d.Name, d.Doc)
	row := func(name, value string) { fmt.Fprintf(w, "%s\t%s\n", name, value) }
	row("kind", string(d.Kind()))
	row("specification", d.Spec)
	row("prefix", strconv.Quote(d.Prefix))
	row("secrets", secrets(d))
	for _, n := range listedSizes {
		if lab.HooksOf(d).TokenSize != nil {
			row("token of "+strconv.Itoa(n)+" B", strconv.Itoa(lab.HooksOf(d).TokenSize(n))+" B")
		}
	}
	for _, o := range d.Options {
		row("option "+o.Name, fmt.Sprintf("%s: %s (default %s)", o.Doc, strings.Join(o.Values, ", "), o.Values[0]))
	}
	if lab.HooksOf(d).Allocates != "" {
		row("allocates", lab.HooksOf(d).Allocates)
	}
	fmt.Fprintln(w)
	promises := map[codecs.Property]string{}
	for _, p := range codecs.Properties() {
		promises[p.Property] = p.Promise
	}
	guarantee := func(g codecs.Guarantee) {
		word, why := "disclaims", cmp.Or(g.Reason, promises[g.Property])
		if g.Holds {
			word = "holds"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", g.Property, word, why)
	}
	for _, g := range d.GuaranteesFor(nil) {
		guarantee(g)
	}
	for _, o := range d.Options {
		for _, value := range o.Values[1:] {
			changed := changedGuarantees(d, map[string]string{o.Name: value})
			if len(changed) > 0 {
				fmt.Fprintf(w, "\nunder %s=%s:\n", o.Name, value)
			}
			for _, g := range changed {
				guarantee(g)
			}
		}
	}
	return w.Flush()
}

// changedGuarantees returns the guarantees that options make hold or not hold
// otherwise than by default.
func changedGuarantees(d codecs.Design, options map[string]string) []codecs.Guarantee {
	return slices.DeleteFunc(d.GuaranteesFor(options), func(g codecs.Guarantee) bool {
		was, _ := d.Guarantee(g.Property, nil)
		return was.Holds == g.Holds
	})
}

// secrets says what secrets a design takes.
func secrets(d codecs.Design) string {
	size := fmt.Sprintf("%d bytes or more", codecs.MinSecret)
	if d.KeySize > 0 {
		size = fmt.Sprintf("exactly %d bytes", d.KeySize)
	}
	if d.MaxKeys > 0 {
		return fmt.Sprintf("%s each, at most %d in a ring", size, d.MaxKeys)
	}
	return size + " each, any number in a ring"
}
