package formats

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed survey.json
var surveyFile []byte

// A Surveyed row has the kinds of foreign encodings that a library was found to accept
// before, and the reason of each difference that is known.
type Surveyed struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Accepts []string          `json:"accepts"`
	Why     map[string]string `json:"why,omitempty"` // by kind that differs
}

// Survey returns the rows of the survey.
func Survey() ([]Surveyed, error) {
	var file struct {
		Source string     `json:"source"`
		Rows   []Surveyed `json:"rows"`
	}
	if err := json.Unmarshal(surveyFile, &file); err != nil {
		return nil, fmt.Errorf("survey.json: %w", err)
	}
	return file.Rows, nil
}

// Differs returns the kinds in which a measured row and the survey differ. A kind of which
// no text could be made does not differ.
func (s *Surveyed) Differs(r *Row) []string {
	var kinds []string
	for _, f := range r.Foreign {
		if f.Tried > 0 && (f.Accepted > 0) != slices.Contains(s.Accepts, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// reason explains the differences of a row: another version, or the reasons of the survey.
// It reports whether each is explained.
func (s *Surveyed) reason(r *Row) (text string, explained bool) {
	differs := s.Differs(r)
	if len(differs) == 0 {
		return "as in the survey", true
	}
	explained = true
	var reasons []string
	for _, kind := range differs {
		why := s.Why[kind]
		switch {
		case why == "" && !strings.Contains(r.Spec, s.Version):
			why = fmt.Sprintf("the survey had version %s", s.Version)
		case why == "":
			why, explained = "not explained", false
		}
		if line := kind + ": " + why; !slices.Contains(reasons, line) {
			reasons = append(reasons, line)
		}
	}
	return strings.Join(reasons, "; "), explained
}

// Encodings returns a page of the foreign encodings that the live rows accept, beside the
// survey. It also returns the number of rows that are in the survey, and the names of those
// with a difference that is not explained.
func Encodings(rows []Row) (page string, surveyed int, unexplained []string, err error) {
	survey, err := Survey()
	if err != nil {
		return "", 0, nil, err
	}
	var b strings.Builder
	b.WriteString("# Foreign encodings that token libraries accept\n\n")
	b.WriteString("Each cell has the texts accepted and tried, of three tokens. They open to the payload of the token.\n\n")
	fmt.Fprintf(&b, "| library | version | %s | survey |\n|---|---|%s---|\n", strings.Join(Kinds(), " | "), strings.Repeat("---|", len(kinds)))
	for _, r := range rows {
		if !r.Live || len(r.Foreign) == 0 {
			continue
		}
		words := strings.Fields(r.Spec)
		fmt.Fprintf(&b, "| `%s` | %s |", r.Name, words[len(words)-1])
		for _, f := range r.Foreign {
			fmt.Fprintf(&b, " %d/%d |", f.Accepted, f.Tried)
		}
		why := "-"
		if i := slices.IndexFunc(survey, func(s Surveyed) bool { return s.Name == r.Name }); i >= 0 {
			surveyed++
			var explained bool
			if why, explained = survey[i].reason(&r); !explained {
				unexplained = append(unexplained, r.Name)
			}
		}
		fmt.Fprintf(&b, " %s |\n", why)
	}
	return b.String(), surveyed, unexplained, nil
}
