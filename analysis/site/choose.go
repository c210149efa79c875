package site

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"sealab/analysis/choice"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/page"
)

// A choosePage is the data of the page about choosing a design.
type choosePage struct {
	Rules     []string
	BenchRun  string
	TradeOffs template.HTML
	Scenarios template.HTML
}

func (s *site) writeChoose() error {
	p := choosePage{Rules: choice.Rules, TradeOffs: s.tradeOffs()}
	if s.Bench != nil {
		p.BenchRun = stampOf(s.Bench.Path)
	}
	var err error
	if p.Scenarios, err = s.scenarios(); err != nil {
		return err
	}
	return s.add("choose.html", "Choose", "Choose a design", "Speed, bytes and guarantees of every design side by side, the rules of sealab choose, and their answers to common uses.", "choose", p)
}

// tradedProperties lists the properties in which the codecs differ.
var tradedProperties = []codecs.Property{codecs.Confidentiality, codecs.NonceMisuseResistant, codecs.KeyCommitting, codecs.SenderAuthenticated}

// tradeOffs returns a table of speed, size and guarantees of the codecs to choose from.
func (s *site) tradeOffs() template.HTML {
	t := page.Table{Caption: "Payload of 1 KiB; median times of the newest run", Tall: true, Columns: page.Head("design", "#seal", "#open", "#bytes added", "#tokens per key", "#forgeries per key")}
	for _, p := range tradedProperties {
		t.Columns = append(t.Columns, page.Column{Name: string(p)})
	}
	t.Columns = append(t.Columns, page.Head("post-quantum", "NIST-approved", "other languages")...)
	for _, d := range s.Designs {
		facts := lab.HooksOf(d.row).Facts
		if facts == nil || d.row.IsScheme() {
			continue
		}
		row := page.Row{ID: "c-" + d.Name, Cells: append([]page.Cell{{Text: d.Name, Href: d.File}}, d.times()...)}
		added := page.Cell{Text: NotTested, Sort: "1e99"}
		if size := lab.HooksOf(d.row).TokenSize; size != nil {
			added = page.Cell{Text: fmt.Sprint(size(Size) - Size)}
		}
		row.Cells = append(row.Cells, added, powerOfTwo(facts.TokensPerKey(Size)), powerOfTwo(facts.Log2Forgeries(Size)))
		for _, p := range tradedProperties {
			g, _ := d.row.Guarantee(p, nil)
			row.Cells = append(row.Cells, yesCell(g.Holds, g.Reason))
		}
		row.Cells = append(row.Cells, yesCell(facts.Quantum == "", facts.Quantum), yesCell(facts.Approved != "", facts.Approved), page.Cell{Text: strings.Join(facts.Languages, ", ")})
		t.Rows = append(t.Rows, row)
	}
	return t.HTML()
}

// powerOfTwo returns a cell with a number given by its base-2 logarithm.
func powerOfTwo(log2 float64) page.Cell {
	if math.IsInf(log2, 1) {
		return page.Cell{Text: "no limit", Sort: "1e99"}
	}
	return page.Cell{Text: fmt.Sprintf("2^%.4g", log2), Sort: fmt.Sprint(log2)}
}

// yesCell returns a cell with a mark, and the reason as its text.
func yesCell(holds bool, reason string) page.Cell {
	if holds {
		return page.Cell{Mark: "✓", Class: "good", Text: cmp.Or(reason, "yes")}
	}
	return page.Cell{Mark: "–", Class: "quiet", Text: cmp.Or(reason, "no")}
}

// scenarios returns a table of the scenarios and their answers, cheapest design first.
func (s *site) scenarios() (template.HTML, error) {
	t := page.Table{Caption: "Common uses", Columns: page.Head("use", "needs", "designs that fit, the cheapest first", "a reason against the next cheapest")}
	for _, scenario := range choice.Scenarios {
		answer, err := choice.Choose(catalog.All(), scenario.Query, s.cost)
		if err != nil {
			return "", err
		}
		var needs, fits []string
		for _, p := range scenario.Needs {
			needs = append(needs, string(p))
		}
		for _, f := range answer.Fits {
			fits = append(fits, f.Design)
		}
		if len(fits) == 0 {
			fits = []string{"no design"}
		}
		t.Rows = append(t.Rows, page.Row{Cells: []page.Cell{
			{Text: scenario.Name}, {Text: strings.Join(needs, ", ")}, {Text: strings.Join(fits, ", ")}, {Text: s.against(answer)},
		}})
	}
	return t.HTML(), nil
}

// cost implements choice.Costs for the newest run, with payloads of Size bytes.
func (s *site) cost(name string, _ int) (c choice.Cost, ok bool) {
	i := slices.IndexFunc(s.Designs, func(d *design) bool { return d.Name == name })
	if i < 0 || s.Designs[i].Seal == nil || s.Designs[i].Unseal == nil {
		return c, false
	}
	return choice.Cost{SealNs: s.Designs[i].Seal.Ns, UnsealNs: s.Designs[i].Unseal.Ns, Rounds: s.Bench.Total(name, Size), Noise: s.Bench.noise}, true
}

// against returns why the cheapest design that does not fit was rejected. It considers designs of the
// requested kind to choose from.
func (s *site) against(a *choice.Answer) string {
	best, text := math.Inf(1), ""
	for _, o := range a.Others {
		c, ok := s.cost(o.Design, Size)
		if total := c.SealNs + c.UnsealNs; !o.Kind && !o.Compared && ok && total < best {
			best, text = total, o.Design+": "+o.Reason
		}
	}
	return text
}
