package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"sealab/analysis/site"
	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
)

func newDocsCommand() *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:    "docs",
		Hidden: true,
		Short:  "Write the man pages or the reference of all commands",
		Long: `Write a page for each command to a new folder: man pages, or Markdown. They are
made from the help texts.`,
		Example: `  sealab docs --out man
  sealab docs --format markdown --out reference`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := referencePages(cmd.Root(), format)
			if err != nil {
				return err
			}
			return atomicfile.WriteFolder(out, files)
		},
	}
	cmd.Flags().StringVar(&out, "out", "man", "new `folder` of the pages")
	cmd.Flags().StringVar(&format, "format", "man", "form of the pages: man or markdown")
	return cmd
}

// referencePages returns a page for each visible command, by file name.
func referencePages(root *cobra.Command, format string) (map[string][]byte, error) {
	extension := map[string]string{"man": ".1", "markdown": ".md"}[format]
	if extension == "" {
		return nil, fmt.Errorf("--format %q: want man or markdown", format)
	}
	files := map[string][]byte{}
	var add func(cmd *cobra.Command) error
	add = func(cmd *cobra.Command) error {
		if cmd.Hidden || cmd.IsAdditionalHelpTopicCommand() || cmd.Name() == "help" {
			return nil
		}
		cmd.DisableAutoGenTag = true
		var text bytes.Buffer
		err := doc.GenMarkdown(cmd, &text)
		if format == "man" {
			text.Reset()
			err = doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "sealab", Manual: "sealab", Date: buildTime()}, &text)
		}
		if err != nil {
			return err
		}
		files[strings.ReplaceAll(cmd.CommandPath(), " ", "-")+extension] = text.Bytes()
		for _, sub := range cmd.Commands() {
			if err := add(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return files, add(root)
}

func newSiteCommand() *cobra.Command {
	var from site.Source
	var out string
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Write pages of committed results",
		Long: `Write static pages of the newest run of each kind below --results: the designs
with their guarantees, the outcomes of attacks and a plot of time against size;
a page for each design; the benchmark with a comparison and a history; attacks,
a review and a fuzz campaign with their findings; the vectors; guides; and the
help of all commands. Each page is one file that loads nothing else.`,
		Example: `  sealab site
  sealab site --vectors vectors/files --out pages`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			commands, err := sitePages(cmd.Root())
			if err != nil {
				return err
			}
			from.Commands = commands
			if err := site.Write(from, out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "open %s\n", filepath.Join(out, "index.html"))
			return err
		},
	}
	cmd.Flags().StringVar(&from.Results, "results", runfile.Results, "folder of all results")
	cmd.Flags().StringVar(&from.Vectors, "vectors", "", "folder of the files of vectors to publish (default none)")
	cmd.Flags().StringVar(&out, "out", "site", "new folder of the pages")
	return cmd
}

// sitePages returns the pages of all commands for the site, sorted by name.
func sitePages(root *cobra.Command) ([]site.Command, error) {
	files, err := referencePages(root, "markdown")
	if err != nil {
		return nil, err
	}
	var all []site.Command
	for _, text := range files {
		title, _, _ := strings.Cut(string(text), "\n")
		all = append(all, site.Command{Name: strings.TrimPrefix(title, "## "), Markdown: string(text)})
	}
	slices.SortFunc(all, func(a, b site.Command) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// buildTime returns the time of the commit that was built, so that two builds
// have the same pages.
func buildTime() *time.Time {
	at, err := time.Parse(time.RFC3339, runfile.BuildSetting("vcs.time"))
	if err != nil {
		at = time.Unix(0, 0)
	}
	at = at.UTC()
	return &at
}
