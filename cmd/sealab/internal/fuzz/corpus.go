package fuzz

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
	"sealab/internal/cli"
)

func newCorpus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Convert fuzz inputs between engines, write seeds",
	}
	cmd.AddCommand(newCorpusConvert(), newCorpusSeeds())
	return cmd
}

// corpusFormats describes the formats for help texts.
const corpusFormats = `The formats:

  native  a folder of go test -fuzz
  raw     a folder of bare inputs: go-fuzz, libFuzzer
  zip     an archive of bare inputs: the seed corpus of OSS-Fuzz`

func newCorpusConvert() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "convert SOURCE DESTINATION",
		Short: "Convert a corpus from the format of one engine to another",
		Long: `Read the inputs at SOURCE and write each once to DESTINATION. If DESTINATION is
a folder, its files are kept; if it is an archive, it is replaced.

` + corpusFormats,
		Example: `  sealab fuzz corpus convert --from native --to raw fuzz-campaign/corpus/FuzzText gofuzz/corpus
  sealab fuzz corpus convert --from raw --to zip gofuzz/corpus fuzz_text_seed_corpus.zip`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := harness.ParseFormat(from)
			if err != nil {
				return err
			}
			inputs, err := source.Read(args[0])
			if err != nil {
				return err
			}
			return writeCorpus(cmd, to, args[1], inputs)
		},
	}
	cmd.Flags().StringVar(&from, "from", string(harness.Native), "format of SOURCE")
	cmd.Flags().StringVar(&to, "to", string(harness.Raw), "format of DESTINATION")
	return cmd
}

func newCorpusSeeds() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "seeds TARGET DESTINATION",
		Short: "Write the seeds of a target, for engines that take them as files",
		Long: `Write the seeds of a target, many of which come from the committed vectors.
go test -fuzz has them built in.

` + corpusFormats,
		Example: `  sealab fuzz corpus seeds text gofuzz/corpus
  sealab fuzz corpus seeds text --to zip fuzz_text_seed_corpus.zip`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, seeds, err := seedsOf(args[0])
			if err != nil {
				return err
			}
			return writeCorpus(cmd, to, args[1], seeds)
		},
	}
	cmd.Flags().StringVar(&to, "to", string(harness.Raw), "format of DESTINATION")
	return cmd
}

// seedsOf returns a target with its seeds.
func seedsOf(name string) (targets.Target, [][]byte, error) {
	t, err := targets.Find(name)
	if err != nil {
		return t, nil, err
	}
	seeds, err := t.Seeds()
	return t, seeds, err
}

func writeCorpus(cmd *cobra.Command, format, path string, inputs [][]byte) error {
	to, err := harness.ParseFormat(format)
	if err != nil {
		return err
	}
	if err := to.Write(path, inputs); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d inputs\n", len(inputs))
	return err
}

func newCover() *cobra.Command {
	var folder campaignFolder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cover [TARGET...]",
		Short: "Show the statements that the corpora of a campaign cover",
		Long: `Run the seeds and corpora, of all targets by default, and show the share of
statements that they cover in each package under test. The files cover.out (for
"go tool cover -html") and cover.txt (for "sealab fuzz report") in the folder of
the campaign keep the result.`,
		Example: `  sealab fuzz cover
  go tool cover -html fuzz-campaign/cover.out`,
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx, stop := cli.Interruptible(cmd)
			defer stop()
			table, err := campaign.Cover(ctx, folder.config(), names)
			if err != nil {
				return err
			}
			if asJSON {
				d, err := coverageOf(table)
				if err != nil {
					return err
				}
				return cli.WriteJSON(cmd.OutOrStdout(), d)
			}
			_, err = cmd.OutOrStdout().Write(table)
			return err
		},
	}
	folder.add(cmd)
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// The names of the JSON formats of coverage and of minimized corpora.
const (
	CoverFormat    = "sealab-cover/1"
	MinimizeFormat = "sealab-minimize/1"
)

// A CoverDocument is the coverage of the corpora of a campaign as JSON.
type CoverDocument struct {
	Format   string            `json:"format"`
	Packages []coveredDocument `json:"packages"`
}

type coveredDocument struct {
	Package string  `json:"package"`
	Percent float64 `json:"percent"` // of statements
}

// coverageOf parses the table of "fuzz cover", which has a line "package
// coverage: 81.2% of statements" for each package.
func coverageOf(table []byte) (CoverDocument, error) {
	d := CoverDocument{Format: CoverFormat, Packages: []coveredDocument{}}
	for line := range strings.Lines(string(table)) {
		var c coveredDocument
		if _, err := fmt.Sscanf(line, "%s coverage: %f%% of statements", &c.Package, &c.Percent); err != nil {
			return d, fmt.Errorf("coverage %q: want a package and a share of statements", strings.TrimSpace(line))
		}
		d.Packages = append(d.Packages, c)
	}
	return d, nil
}

func newMinimize() *cobra.Command {
	var folder campaignFolder
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "minimize [TARGET...]",
		Short: "Minimize a corpus without losing coverage",
		Long: `Run every input of the corpora, of all targets by default, and keep a small set
with the same coverage: the same counters, each with the same power of two.
Failing inputs are kept.`,
		Example: `  sealab fuzz minimize text`,
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx, stop := cli.Interruptible(cmd)
			defer stop()
			results, err := campaign.Minimize(ctx, folder.config(), names)
			d := MinimizeDocument{Format: MinimizeFormat, Targets: []minimizedDocument{}}
			for _, r := range results {
				d.Targets = append(d.Targets, minimizedDocument{r.Target.Name, r.Inputs, r.Kept, r.Features})
			}
			if asJSON && err == nil {
				return cli.WriteJSON(cmd.OutOrStdout(), d)
			}
			for _, r := range results {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: kept %d of %d inputs, which cover %d features\n", r.Target.Name, r.Kept, r.Inputs, r.Features)
			}
			return err
		},
	}
	folder.add(cmd)
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// A MinimizeDocument is the JSON output of "fuzz minimize": the reduced
// corpora.
type MinimizeDocument struct {
	Format  string              `json:"format"`
	Targets []minimizedDocument `json:"targets"`
}

type minimizedDocument struct {
	Target   string `json:"target"`
	Inputs   int    `json:"inputs"`
	Kept     int    `json:"kept"`
	Features int    `json:"features"`
}
