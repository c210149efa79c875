// Package subject finds the designs, SDKs and workers that a command line names, and starts the workers.
package subject

import (
	"fmt"
	"io"
	"slices"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/internal/broken"
	"sealab/internal/golibs"
)

// Controls returns the negative controls.
func Controls() []codecs.Design {
	var all []codecs.Design
	for _, c := range broken.Controls() {
		all = append(all, c.Design)
	}
	return all
}

// FindDesign returns a design of the catalog, a negative control or a Go
// library.
func FindDesign(name string) (codecs.Design, error) {
	others := slices.Concat(Controls(), golibs.All())
	if i := slices.IndexFunc(others, func(d codecs.Design) bool { return d.Name == name }); i >= 0 {
		return others[i], nil
	}
	return catalog.Find(name)
}

// Installed returns the SDKs that can be started. It prints the others as
// skipped.
func Installed(sdks []sdk.SDK, notes io.Writer) []sdk.SDK {
	var there []sdk.SDK
	for _, s := range sdks {
		if why := s.Unavailable(); why != "" {
			fmt.Fprintf(notes, "skipped: %s: %s\n", s.Name, why)
			continue
		}
		there = append(there, s)
	}
	return there
}
