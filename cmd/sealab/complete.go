package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sealab/analysis/choice"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/fuzz/attack/attacks"
	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/targets"
	"sealab/internal/runfile"
)

// addCompletions adds completion of arguments and flags to every command below
// cmd, according to the words in their usage.
func addCompletions(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		addCompletions(sub)
	}
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		for word, values := range argumentValues {
			if slices.Contains(strings.FieldsFunc(cmd.Use, func(r rune) bool { return strings.ContainsRune(" []|.", r) }), word) {
				cmd.ValidArgsFunction = completeWith(values)
			}
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if values, ok := flagValues[f.Name]; ok {
			cobra.CheckErr(cmd.RegisterFlagCompletionFunc(f.Name, completeWith(values)))
		} else if slices.Contains(folderFlags, f.Name) {
			cobra.CheckErr(cmd.MarkFlagDirname(f.Name))
		}
	})
}

func completeWith(values func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
}

// folderFlags are the flags that take a folder. All other flags without listed
// values take a file or text.
var folderFlags = []string{"dir", "out", "results", "run", "vectors"}

// argumentValues maps the names of arguments in the usage to their values.
var argumentValues = map[string]func() []string{"DESIGN": designNames,
	"TARGET": namesOf(targets.All, func(t targets.Target) string { return t.Name })}

// flagValues maps the names of flags to their values.
var flagValues = map[string]func() []string{
	"design": designNames, "subject": designNames, "need": propertyNames, "holds": propertyNames,
	"only":   attackNames,
	"checks": namesOf(checks.All, func(c review.Check) string { return c.ID }),
	"op":     namesOf(runfile.Ops, func(op runfile.Op) string { return string(op) }),
	"sdk": namesOf(func() []sdk.SDK {
		all, _ := sdk.Compared(".") // outside the module there are none
		return all
	}, func(s sdk.SDK) string { return s.Name }),
	"format":  func() []string { return []string{"text", "json", "markdown", "sarif"} },
	"interop": func() []string { return choice.Languages(catalog.All()) },
}

var (
	designNames   = namesOf(catalog.Variants, func(d codecs.Design) string { return d.Name })
	propertyNames = namesOf(codecs.Properties, func(p codecs.PropertyInfo) string { return string(p.Property) })
)

func attackNames() []string {
	var all []string
	for _, a := range attacks.All() {
		if family, _, _ := strings.Cut(a.ID, "-"); !slices.Contains(all, family) {
			all = append(all, family)
		}
		all = append(all, a.ID)
	}
	return all
}

// namesOf returns a function that returns the names of all values.
func namesOf[T any](all func() []T, name func(T) string) func() []string {
	return func() (names []string) {
		for _, x := range all() {
			names = append(names, name(x))
		}
		return names
	}
}
