package fuzz

import (
	"fmt"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
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
