//go:build planted

package catalog

import (
	"sealab/codecs"
	"sealab/codecs/flawed/planted"
)

// planting puts the planted bugs into designs.
func planting(designs ...codecs.Design) []codecs.Design { return planted.In(designs) }
