package review

import (
	"fmt"
	"strings"
)

// families name the families of checks.
var families = []struct{ letters, title string }{
	{"RS", "requestState (revision 2026-07-28; RS-DOWN: older revisions)"},
	{"H", "HTTP and JSON-RPC (revision 2026-07-28)"},
	{"A", "Authorization"}, {"X", "Long calls and large requests"},
	{"T", "Tools"}, {"R", "Resources"}, {"P", "Prompts"}, {"C", "Completions"}, {"L", "Subscriptions"},
	{"IO", "Standard input and output"},
	{"S", "Sessions of the revisions 2025-11-25, 2025-06-18 and 2025-03-26"},
}

// Page returns the documentation of all checks in Markdown.
func Page() []byte {
	var b strings.Builder
	b.WriteString("# The checks of `sealab review`\n\nGenerated from the table of checks: `go test ./fuzz/review -run TestPage -args -write`.\n")
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s: %s\n", f.letters, f.title)
		for _, c := range Checks() {
			if c.Family() == f.letters {
				c.write(&b)
			}
		}
	}
	return []byte(b.String())
}

// Page returns the documentation of one check in Markdown.
func (c Check) Page() []byte {
	var b strings.Builder
	c.write(&b)
	return []byte(b.String())
}

func (c Check) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s: %s\n\n", c.ID, c.Name)
	fmt.Fprintf(b, "- sent: %s\n- a correct server: %s (%s)\n- at worst: %s, %s\n- impact: %s\n- fix: %s\n", c.Sent, c.Want, c.Source, c.Severity, c.Category, c.Impact, c.Fix)
	var needs []string
	if c.Flow {
		needs = append(needs, "a call that is answered by a question with a state")
	}
	if c.Effects {
		needs = append(needs, "`--effects`")
	}
	if c.Over != "" {
		needs = append(needs, c.Over)
	}
	if len(needs) > 0 {
		fmt.Fprintf(b, "- needs: %s\n", strings.Join(needs, ", "))
	}
}
