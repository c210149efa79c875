package site

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"sealab/analysis/throughput"
	"sealab/codecs"
	"sealab/internal/page"
)

// homePage is the data of the home page.
type homePage struct {
	*site
	Tools        page.Tools
	Plot, Matrix template.HTML
	Cost         template.HTML
	Claims       int // claimed guarantees of all designs
	Standing     int // claimed and not refuted
	Fallen       int // claimed and refuted
	Tests        int // number of tests in the vectors
	AttackRun    string
	Attacked     int // designs in the newest run of attacks
}

func (s *site) writeHome() error {
	h := homePage{site: s, Tools: page.Tools{Search: "search designs", Hint: "for example aes claims"}}
	var properties []string
	for _, p := range s.Properties {
		properties = append(properties, string(p.Property))
	}
	h.Tools.Facets = []page.Facet{
		{Label: "claims the guarantee", Key: "holds", Values: properties},
		{Label: "kind", Key: "kind", Values: []string{string(codecs.KindCodec), string(codecs.KindScheme)}},
	}
	for _, d := range s.Designs {
		for _, g := range d.Guarantees {
			if g.Claim != statusClaimed {
				continue
			}
			h.Claims++
			switch g.Class {
			case "good":
				h.Standing++
			case "bad":
				h.Fallen++
			}
		}
	}
	for _, f := range s.Vectors {
		h.Tests += f.Tests
	}
	if s.Attack != nil {
		h.AttackRun = stampOf(s.Attack.Path)
		for _, d := range s.Designs {
			if s.Attack.outcomes[d.Name] != nil {
				h.Attacked++
			}
		}
	}
	h.Plot, h.Matrix, h.Cost = s.plot(), s.matrix(), s.costs()
	return s.add("index.html", "Designs", "Sealed-token designs",
		"Codecs and schemes that let a server hand its state to an untrusted client: their guarantees, the outcomes of attacks on them, and their cost.", "home", h)
}

// data returns the values by which the controls of the home page filter.
func (d *design) data() map[string]string {
	return map[string]string{"holds": strings.Join(d.holds(), " "), "kind": d.Kind}
}

func (d *design) holds() []string {
	var all []string
	for _, g := range d.Guarantees {
		if g.Claim == statusClaimed {
			all = append(all, g.Property)
		}
	}
	return all
}

// plot returns a chart of the designs by time and bytes added.
func (s *site) plot() template.HTML {
	c := page.Chart{
		Title:  "Time to open a token against the bytes it adds",
		Note:   "A payload of 1 KiB. Better is to the left and below. Both scales are logarithmic. Each point is a link.",
		X:      page.Axis{Label: "time to open →", Log: true, Text: throughput.Duration},
		Y:      page.Axis{Label: "bytes added", Log: true},
		Height: 470, Wide: true,
		Series: []page.Series{{Name: "codecs"}, {Name: "schemes"}},
	}
	for _, d := range s.Designs {
		if d.Unseal == nil || d.Unseal.TokenSize <= Size {
			continue
		}
		p := page.Point{
			X: d.Unseal.Ns, Y: float64(d.Unseal.TokenSize - Size), Label: d.Name, Href: d.File, Data: d.data(),
			Title: fmt.Sprintf("%s: opened in %s, adds %d bytes", d.Name, throughput.Duration(d.Unseal.Ns), d.Unseal.TokenSize-Size),
		}
		i := 0
		if d.Kind == string(codecs.KindScheme) {
			i = 1
		}
		c.Series[i].Points = append(c.Series[i].Points, p)
	}
	c.Series = slices.DeleteFunc(c.Series, func(s page.Series) bool { return len(s.Points) == 0 })
	return c.HTML()
}

// markByClass maps a CSS class to its mark in the matrix.
var markByClass = map[string]string{"good": "✓", "bad": "✗", "warn": "?", "quiet": "–", "": ""}

// matrix returns a table of designs by guarantees.
func (s *site) matrix() template.HTML {
	t := page.Table{
		Caption: "Guarantees of the designs, with the outcomes of attacks", Class: "matrix", Plain: true, Items: true, Slim: true, Tall: true,
		Columns: []page.Column{{Name: "design"}},
	}
	for _, p := range s.Properties {
		t.Columns = append(t.Columns, page.Column{Name: string(p.Property)})
	}
	for _, d := range s.Designs {
		row := page.Row{Data: d.data(), Cells: []page.Cell{{Text: d.Name, Href: d.File}}}
		for _, g := range d.Guarantees {
			row.Cells = append(row.Cells, page.Cell{Mark: cmp.Or(markByClass[g.Class], " "), Class: g.Class, Text: g.Property + ": " + g.Claim + ", " + g.Outcome})
		}
		t.Rows = append(t.Rows, row)
	}
	return t.HTML()
}

// costs returns a table of times and token sizes.
func (s *site) costs() template.HTML {
	t := page.Table{Caption: "Median times and token sizes, payload of 1 KiB", Columns: page.Head("design", "kind", "#seal", "#open", "#token, bytes", "#allocations to open", "#findings")}
	for _, d := range s.Designs {
		row := page.Row{Cells: append([]page.Cell{{Text: d.Name, Href: d.File}, {Text: d.Kind}}, d.times()...)}
		size, allocs := "", ""
		if d.Unseal != nil {
			size, allocs = fmt.Sprint(d.Unseal.TokenSize), d.Unseal.Allocs
		}
		row.Cells = append(row.Cells, page.Cell{Text: size}, page.Cell{Text: allocs}, page.Cell{Text: fmt.Sprint(len(d.Findings))})
		t.Rows = append(t.Rows, row)
	}
	return t.HTML()
}

// times returns the cells with a design's times to seal and unseal.
func (d *design) times() []page.Cell {
	cells := make([]page.Cell, 2)
	for i, m := range []*measurement{d.Seal, d.Unseal} {
		cells[i] = page.Cell{Text: NotTested, Sort: "1e99"}
		if m != nil {
			cells[i] = page.Cell{Text: throughput.Duration(m.Ns), Sort: fmt.Sprint(m.Ns)}
		}
	}
	return cells
}
