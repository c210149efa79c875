// Package catalog is the list of designs. It is the only package that imports
// them; every instrument ranges over it and so cannot name one.
package catalog

import (
	"fmt"
	"strings"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/hpkepsk"
	"sealab/codecs/hpkesession"
	"sealab/codecs/xchacha"
)

// rows is the catalog. To add a design, add its folder and its row.
var rows = []codecs.Design{
	hmacsha256.Design,
	aesgcm.Design,
	xchacha.Design,
	hpkepsk.Design,
	hpkesession.Design,
}

// All returns every design, in the catalog's order.
func All() []codecs.Design { return append([]codecs.Design(nil), rows...) }

// Find returns the design called name.
func Find(name string) (codecs.Design, error) {
	known := make([]string, 0, len(rows))
	for _, d := range rows {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return codecs.Design{}, fmt.Errorf("sealab: no design %q; there are %s", name, strings.Join(known, ", "))
}
