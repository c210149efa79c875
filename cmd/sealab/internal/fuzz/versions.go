package fuzz

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/differential"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/verdict"
)

func newVersions() *cobra.Command {
	var out string
	var asked cli.Outcomes
	cmd := &cobra.Command{
		Use:   "versions",
		Short: "Exchange tokens between released versions of each SDK",
		Long: `Mint tokens with each installed version of an SDK and open them with every
other: as minted, and with altered text. The table shows which step of a rolling
upgrade refuses tokens of the previous version.

make sdk-versions installs the versions. One that is not installed is skipped.

Exit status: 1 if an altered token is accepted with another state, 2 if an SDK
could not be asked.`,
		Example: `  sealab fuzz versions
  sealab fuzz versions -o results/versions/20261122T080000Z-1234567890`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := sdk.Versions(".")
			if err != nil {
				return err
			}
			w := asked.Begin(cmd)
			return asked.End(exchangeVersions(w, &asked, subject.Installed(all, w), out))
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write versions.md into this `folder`")
	asked.AddFlags(cmd)
	return cmd
}

// exchangeVersions pairs the versions of each library and prints the tables.
func exchangeVersions(stdout io.Writer, asked *cli.Outcomes, versions []sdk.SDK, out string) error {
	var report strings.Builder
	forged := 0
	for library, of := range byLibrary(versions) {
		n, err := exchangeLibrary(&report, asked, library, of)
		if err != nil {
			return err
		}
		forged += n
	}
	if report.Len() == 0 {
		return fmt.Errorf("no two versions of a library are installed; install them with: make sdk-versions")
	}
	if _, err := io.WriteString(stdout, report.String()); err != nil {
		return err
	}
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(out, "versions.md"), []byte("# Tokens between released versions\n"+report.String())); err != nil {
			return err
		}
	}
	if forged > 0 {
		return cli.ErrRefuted
	}
	return nil
}

// byLibrary yields the versions of each library with at least two, in the order
// of the manifest. The name of a version is library@version.
func byLibrary(versions []sdk.SDK) func(yield func(string, []sdk.SDK) bool) {
	return func(yield func(string, []sdk.SDK) bool) {
		for len(versions) > 0 {
			library, _ := splitVersion(versions[0].Name)
			n := 1
			for n < len(versions) && strings.HasPrefix(versions[n].Name, library+"@") {
				n++
			}
			if n > 1 && !yield(library, versions[:n]) {
				return
			}
			versions = versions[n:]
		}
	}
}

// splitVersion splits library@version at the last @.
func splitVersion(name string) (library, version string) {
	i := strings.LastIndexByte(name, '@')
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// exchangeLibrary writes the table of one library. It returns the number of
// altered tokens that were accepted with another state.
func exchangeLibrary(report io.Writer, asked *cli.Outcomes, library string, versions []sdk.SDK) (forged int, err error) {
	var designs []codecs.Design
	for _, v := range versions {
		client, err := v.Dial(worker.Limits{})
		if err != nil {
			return 0, err
		}
		defer client.Close() //nolint:gocritic // only a few, closed when the library is done
		d := client.Design()
		_, d.Name = splitVersion(v.Name)
		if version := client.Hello().Version; !strings.HasPrefix(d.Name, version) {
			return 0, fmt.Errorf("%s: the worker states version %q", v.Name, version)
		}
		designs = append(designs, d)
	}
	fmt.Fprintf(report, "\n## %s\n\n| minted by, opened by |", library)
	for _, d := range designs {
		fmt.Fprintf(report, " %s |", d.Name)
	}
	fmt.Fprintf(report, "\n|---|%s\n", strings.Repeat("---|", len(designs)))
	var broken []string
	sound, altered, aliases := 0, 0, 0
	for i, minted := range designs {
		fmt.Fprintf(report, "| %s |", minted.Name)
		for j, opened := range designs {
			p, err := differential.Pair(minted, opened, uint64(i*len(designs)+j))
			if err != nil {
				return 0, fmt.Errorf("%s: %w", library, err)
			}
			fmt.Fprintf(report, " %s |", formatPairing(p))
			if p.Breaks() {
				broken = append(broken, fmt.Sprintf("%s refuses tokens of %s: %s", opened.Name, minted.Name, p.Reason))
			}
			asked.Ask(library, fmt.Sprintf("%s opened by %s", minted.Name, opened.Name), outcomeOf(len(p.Forged)), formatPairing(p))
			sound, altered, aliases, forged = sound+p.Sound, altered+p.Altered, aliases+p.Aliases, forged+len(p.Forged)
		}
		fmt.Fprintln(report)
	}
	fmt.Fprintf(report, "\n%d tokens as minted. %d altered tokens: %d accepted with another state, %d as another encoding of the same state.\n", sound, altered, forged, aliases)
	for _, b := range broken {
		fmt.Fprintf(report, "- %s\n", b)
	}
	return forged, nil
}

// outcomeOf returns the outcome of a question with that many contrary answers.
func outcomeOf(against int) verdict.Outcome {
	if against > 0 {
		return verdict.Refuted
	}
	return verdict.NotRefuted
}

// formatPairing formats a pairing.
func formatPairing(p differential.Pairing) string {
	if p.Breaks() {
		return fmt.Sprintf("%d of %d", p.Accepted, p.Sound)
	}
	return fmt.Sprintf("all %d", p.Sound)
}
