package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"sealab/analysis/throughput"
	"sealab/analysis/timing"
	"sealab/cmd/sealab/internal/designs"
	"sealab/cmd/sealab/internal/fuzz"
	"sealab/cmd/sealab/internal/measure"
	"sealab/codecs/worker"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/verdict"
	"sealab/vectors"
)

func newVersionCommand() *cobra.Command {
	var asJSON, sbom bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of sealab and of the toolchain that built it",
		Long: `Print the version of sealab, its commit, and the toolchain and the machine that
it was built for. Builds by "go run" or with -buildvcs=false have no commit.

With --json, print the versions of the worker protocol and of the file formats
too. With --sbom, print the modules of this binary as CycloneDX 1.6.`,
		Example: `  sealab version
  sealab version --json
  sealab version --sbom > sealab.cdx.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case sbom:
				return cli.WriteJSON(cmd.OutOrStdout(), billOfMaterials())
			case asJSON:
				return cli.WriteJSON(cmd.OutOrStdout(), versionInfo())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON, with the versions of the formats")
	cmd.Flags().BoolVar(&sbom, "sbom", false, "write the modules of this binary as CycloneDX")
	cmd.MarkFlagsMutuallyExclusive("json", "sbom")
	return cmd
}

// A versionDocument lists all versions that matter to a user of this binary.
type versionDocument struct {
	Format    string `json:"format"`
	Version   string `json:"version"` // semantic version of the command
	Commit    string `json:"commit,omitempty"`
	Toolchain string `json:"toolchain"`
	Platform  string `json:"platform"`
	Protocol  int    `json:"worker_protocol"`
	// Formats are the names of the file formats, which include their versions.
	Formats []string `json:"formats"`
}

func versionInfo() versionDocument {
	return versionDocument{
		Format: "sealab-version/1", Version: cli.Version(), Commit: runfile.BuildSetting("vcs.revision"), Toolchain: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocol: worker.Version,
		Formats: []string{
			vectors.Format, verdict.Format, "sealab-findings/1", cli.OutcomesFormat, throughput.ReportFormat, throughput.CompareFormat,
			timing.DocumentFormat, measure.ProbeFormat, measure.TaintFormat, cli.QuestionsFormat, fuzz.MinimizeFormat, fuzz.CoverFormat, designs.SDKsFormat,
		},
	}
}

// versionText returns the versions of this binary and its toolchain, and the
// platform.
func versionText() string {
	return fmt.Sprintf("sealab %s%s %s %s/%s", cli.Version(), buildCommit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildCommit returns the commit from which this binary was built, in
// parentheses after a space. It is empty if the build did not record it.
func buildCommit() string {
	revision := runfile.BuildSetting("vcs.revision")
	if revision == "" {
		return ""
	}
	parts := []string{"commit " + revision}
	if runfile.BuildSetting("vcs.modified") == "true" {
		parts = append(parts, "modified")
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// A bill is a bill of materials in the format of CycloneDX 1.6 (ECMA-424).
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// billOfMaterials returns the modules of this binary and the Go standard library.
func billOfMaterials() bill {
	of := func(kind, name, version string) component {
		purl := "pkg:golang/" + name + "@" + version
		return component{kind, purl, name, version, purl}
	}
	b := bill{"CycloneDX", "1.6", 1, metadata{of("application", "sealab", cli.Version())}, []component{of("library", "std", strings.TrimPrefix(runtime.Version(), "go"))}}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			b.Components = append(b.Components, of("library", m.Path, m.Version))
		}
	}
	return b
}
