package measure

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sealab/bench/formats"
	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/golibs"
	"sealab/internal/runfile"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// formatsFlags are the flags of the command.
type formatsFlags struct {
	sdks, libraries, asJSON bool
	encodings               bool
	rounds                  int
	attacks, out            string
}

// NewCompareFormats returns the command "compare-formats".
func NewCompareFormats() *cobra.Command {
	var flags formatsFlags
	cmd := &cobra.Command{
		Use:   "compare-formats [DESIGN...]",
		Short: "Compare token formats: foreign encodings, refusals, sizes, times",
		Long: `Compare designs, and with --sdks and --libraries also the installed SDKs and
token libraries. The table has the number of foreign encodings of a token that
each accepts, the number of kinds of refusals, the length of tokens, and the
time to mint and open 1 KiB inside the process, as a median with its 95 %
interval. --attacks adds the guarantees that a run of "sealab attack --out"
refuted and did not refute.

A foreign encoding is another text for the same token: it opens to the same
payload, and is not a forgery. Times can be compared only within one run on a
quiet machine.`,
		Example: `  sealab compare-formats fernet-0x80 iron aes-256-gcm
  sealab compare-formats hmac-sha256 --sdks --encodings
  sealab compare-formats --sdks --libraries --attacks results/attack/RUN --out results`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.rounds < formats.MinRounds || flags.rounds > 10000 {
				return fmt.Errorf("--rounds %d: want %d to 10000", flags.rounds, formats.MinRounds)
			}
			if err := atomicfile.RequireWritable(flags.out); err != nil {
				return err
			}
			return flags.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	cmd.Flags().BoolVar(&flags.sdks, "sdks", false, "compare the installed SDKs and libraries of other languages too")
	cmd.Flags().BoolVar(&flags.libraries, "libraries", false, "compare the Go token libraries too")
	cmd.Flags().BoolVar(&flags.encodings, "encodings", false, "print the foreign encodings that SDKs accept, beside an earlier survey")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "write JSON")
	cmd.Flags().IntVar(&flags.rounds, "rounds", 20, "time each format this `number` of times")
	cmd.Flags().StringVar(&flags.attacks, "attacks", "", "`folder` of a run of attacks, with verdicts.json")
	cmd.Flags().StringVar(&flags.out, "out", "", "folder of all results: table and rows go to a new folder in it")
	return cmd
}

// A FormatsDocument is the JSON output of "compare-formats", and the file of a comparison.
type FormatsDocument struct {
	Time    time.Time     `json:"time"`
	Commit  string        `json:"commit"`
	Dirty   bool          `json:"dirty"`
	CPU     string        `json:"cpu"`
	Modules []string      `json:"modules"`
	Rounds  int           `json:"rounds"`
	Rows    []formats.Row `json:"rows"`
}

func (f *formatsFlags) run(out, notes io.Writer, names []string) error {
	stamp, err := runfile.NewStamp(time.Now(), "")
	if err != nil {
		return err
	}
	tallies, err := readTallies(f.attacks)
	if err != nil {
		return err
	}
	subjects, stop, err := f.subjects(names, notes)
	if err != nil {
		return err
	}
	defer stop()
	bar := cli.NewProgress(notes)
	rows := formats.Compare(subjects, f.rounds, func(_ string, n, of int) { bar.Show("comparing", n, of) })
	bar.End()
	for i := range rows {
		addTallies(&rows[i], tallies[rows[i].Name])
	}
	w := FormatsDocument{stamp.Time, stamp.Commit, stamp.Dirty, runfile.CPUName(), stamp.Modules, f.rounds, rows}
	if f.out != "" {
		dir := stamp.Dir(f.out, runfile.World)
		if err := writeComparison(dir, &w); err != nil {
			return err
		}
		fmt.Fprintf(notes, "wrote %s\n", dir)
	}
	if f.asJSON {
		return cli.WriteJSON(out, w)
	}
	if f.encodings {
		return writeEncodings(out, notes, rows)
	}
	_, err = io.WriteString(out, formatsTable(rows).Text(table.Width(out))+notesOf(rows))
	return err
}

// writeEncodings prints the page of foreign encodings. It notes unexplained
// differences from the survey.
func writeEncodings(out, notes io.Writer, rows []formats.Row) error {
	page, surveyed, unexplained, err := formats.Encodings(rows)
	if err != nil {
		return err
	}
	fmt.Fprintf(notes, "%d rows are in the survey; %d have a difference that is not explained: %v\n", surveyed, len(unexplained), unexplained)
	_, err = io.WriteString(out, page)
	return err
}

func writeComparison(dir string, w *FormatsDocument) error {
	var data bytes.Buffer
	if err := cli.WriteJSON(&data, w); err != nil {
		return err
	}
	page, _, _, err := formats.Encodings(w.Rows)
	if err != nil {
		return err
	}
	text := formatsTable(w.Rows).Text(0) + notesOf(w.Rows)
	return atomicfile.WriteFolder(dir, map[string][]byte{runfile.MainFile(runfile.World): data.Bytes(), "table.txt": []byte(text), "encodings.md": []byte(page)})
}

// subjects returns the formats to compare, and a function that ends their
// workers.
func (f *formatsFlags) subjects(names []string, notes io.Writer) (subjects []formats.Subject, stop func(), err error) {
	var clients []*worker.Client
	stop = func() {
		for _, c := range clients {
			c.Close()
		}
	}
	designs, err := cli.NamedOrAll(withoutClaims(), names, subject.FindDesign)
	if err != nil {
		return nil, stop, err
	}
	if f.libraries {
		designs = append(designs, golibs.All()...)
	}
	for _, d := range designs {
		subjects = append(subjects, formats.Subject{Design: d})
	}
	if !f.sdks {
		return subjects, stop, nil
	}
	all, err := sdk.All(".")
	if err != nil {
		return nil, stop, err
	}
	for _, s := range subject.Installed(all, notes) {
		client, err := s.Dial(worker.Limits{})
		if err != nil {
			fmt.Fprintf(notes, "skipped: %s: %v\n", s.Name, err)
			continue
		}
		clients = append(clients, client)
		subject.NoteUnknown(notes, client.Hello())
		d := client.Design()
		d.Name = s.Name
		subjects = append(subjects, formats.Subject{Design: d, Live: true})
	}
	return subjects, stop, nil
}

// withoutClaims returns the designs of the catalog except claims over other
// designs.
func withoutClaims() []codecs.Design {
	return slices.DeleteFunc(catalog.Variants(), func(d codecs.Design) bool { return d.Over != "" })
}

// readTallies returns the outcomes of a run of attacks by the names of its
// subjects.
func readTallies(dir string) (map[string][]verdict.Tally, error) {
	if dir == "" {
		return nil, nil
	}
	var run verdict.Run
	if err := atomicfile.ReadJSON(filepath.Join(dir, "verdicts.json"), &run, "a run of attacks"); err != nil {
		return nil, err
	}
	all := map[string][]verdict.Tally{}
	for _, s := range run.Designs {
		all[s.Name] = s.Tallies()
	}
	return all, nil
}

// addTallies sorts the guarantees that the format claims by outcome.
func addTallies(r *formats.Row, tallies []verdict.Tally) {
	for _, t := range tallies {
		switch {
		case t.Claim != verdict.Stated:
		case t.Outcome == verdict.Refuted:
			r.Fell = append(r.Fell, string(t.Property))
		case t.Outcome == verdict.NotRefuted:
			r.Stood = append(r.Stood, string(t.Property))
		}
	}
}

// formatsTable returns the table of all rows.
func formatsTable(rows []formats.Row) *table.Table {
	t := table.New("lrrrrrrrrrrrrll")
	head := []string{"FORMAT", "STOOD", "FELL"}
	head = append(head, formats.Kinds()...)
	head = append(head, "REFUSALS")
	for _, n := range formats.Lengths {
		head = append(head, strconv.Itoa(n)+" B")
	}
	t.Row(append(head, "MINT 1 KiB", "OPEN 1 KiB")...)
	for _, r := range rows {
		if len(r.Foreign) == 0 {
			continue // its note gives the reason
		}
		row := []string{r.Name, "-", "-"}
		if r.Stood != nil || r.Fell != nil {
			row[1], row[2] = strconv.Itoa(len(r.Stood)), strconv.Itoa(len(r.Fell))
		}
		for _, f := range r.Foreign {
			row = append(row, fmt.Sprintf("%d/%d", f.Accepted, f.Tried))
		}
		row = append(row, strconv.Itoa(len(r.Errors)))
		for i := range formats.Lengths {
			if i >= len(r.Sizes) || r.Sizes[i].Token < 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, strconv.Itoa(r.Sizes[i].Token))
		}
		t.Row(append(row, formatMicroseconds(r.Mint), formatMicroseconds(r.Open))...)
	}
	return t
}

func formatMicroseconds(i *formats.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g µs [%.3g, %.3g]", i.Median/1e3, i.Low/1e3, i.High/1e3)
}

// notesOf returns a line for each format whose comparison was not completed.
func notesOf(rows []formats.Row) string {
	text := ""
	for _, r := range rows {
		if r.Note != "" {
			text += fmt.Sprintf("not compared to the end: %s: %s\n", r.Name, cli.Quote(r.Note))
		}
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}
