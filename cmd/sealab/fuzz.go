package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
	"sealab/internal/cli"
)

func newFuzzCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Fuzz the designs, for minutes or days",
		Long: `Run fuzz campaigns on every design of the catalog. A campaign runs many targets
in turn and files each failure once, with the files that reproduce it. It keeps
everything in one folder, from which the same command resumes.

Call the commands inside the module. They build the programs that they run, and
need the go command and the source of the module.`,
	}
	cmd.AddCommand(
		newFuzzCorpusCommand(),
		newFuzzCoverCommand(),
		newFuzzFleetCommand(),
		newFuzzImportCommand(),
		newFuzzMinimizeCommand(),
		newFuzzReportCommand(),
		newFuzzRunCommand(),
		newFuzzStatusCommand(),
	)
	return cmd
}

// A campaignFolder holds the flag for the folder of a campaign.
type campaignFolder struct{ dir string }

func (f *campaignFolder) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "fuzz-campaign", "folder of the campaign")
}

// config returns the configuration of a campaign on the targets.
func (f *campaignFolder) config() campaign.Config {
	return campaign.Config{
		Dir: f.dir, Package: "sealab/fuzz/targets", Replay: "sealab/fuzz/targets/replay", Now: time.Now,
		Cover: "sealab/codecs/...,github.com/cloudflare/circl/...,golang.org/x/crypto/...", // includes the libraries of the designs
	}
}

// fuzzTargets returns the named targets or, without names, all that can run on
// this machine. It prints the others as skipped.
func fuzzTargets(names []string, stderr io.Writer) ([]campaign.Target, error) {
	asked, err := namedOr(targets.All(), names, targets.Find)
	if err != nil {
		return nil, err
	}
	var all []campaign.Target
	for _, t := range asked {
		target, reason := campaign.Target{Name: t.Name, Native: t.NativeName()}, t.Unavailable()
		switch {
		case slices.Contains(all, target):
			return nil, fmt.Errorf("duplicate target %q", t.Name)
		case reason == "":
			all = append(all, target)
		case len(names) > 0:
			return nil, fmt.Errorf("target %s cannot run here: %s", t.Name, reason)
		default:
			fmt.Fprintf(stderr, "skipped: target %s: %s\n", t.Name, reason)
		}
	}
	return all, nil
}

func newFuzzCoverCommand() *cobra.Command {
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
				return writeJSON(cmd.OutOrStdout(), d)
			}
			_, err = cmd.OutOrStdout().Write(table)
			return err
		},
	}
	folder.add(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newFuzzMinimizeCommand() *cobra.Command {
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
			d := minimizeDocument{Format: minimizeFormat, Targets: []minimizedDocument{}}
			for _, r := range results {
				d.Targets = append(d.Targets, minimizedDocument{r.Target.Name, r.Inputs, r.Kept, r.Features})
			}
			if asJSON && err == nil {
				return writeJSON(cmd.OutOrStdout(), d)
			}
			for _, r := range results {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: kept %d of %d inputs, which cover %d features\n", r.Target.Name, r.Kept, r.Inputs, r.Features)
			}
			return err
		},
	}
	folder.add(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newFuzzCorpusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Convert fuzz inputs between engines, write seeds",
	}
	cmd.AddCommand(newFuzzCorpusConvertCommand(), newFuzzCorpusSeedsCommand())
	return cmd
}

// corpusFormats describes the formats for help texts.
const corpusFormats = `The formats:

  native  a folder of go test -fuzz
  raw     a folder of bare inputs: go-fuzz, libFuzzer
  zip     an archive of bare inputs: the seed corpus of OSS-Fuzz`

func newFuzzCorpusConvertCommand() *cobra.Command {
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

func newFuzzCorpusSeedsCommand() *cobra.Command {
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
