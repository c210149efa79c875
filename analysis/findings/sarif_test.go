package findings_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/findings"
	"sealab/internal/atomicfile"
	"sealab/internal/schema"
	"sealab/internal/verdict"
)

// source maps every finding to one file.
var source = findings.Source{
	Version: "v1.2.3",
	Locate:  func(findings.Finding) (string, int) { return "workers/a b.py", 7 },
}

// sarifSchema returns the schema of SARIF 2.1.0; see testdata/README.md.
func sarifSchema(t *testing.T) *schema.Schema {
	t.Helper()
	text, err := atomicfile.Read(filepath.Join("testdata", "sarif-2.1.0-rtm.5.json"))
	require.NoError(t, err)
	return schema.New("urn:sarif", text)
}

// TestSARIF validates the log against the schema, and checks the additional members that code scanning
// requires.
func TestSARIF(t *testing.T) {
	r := run()
	r.Designs[0].Results[3].Attack = "KEY-01" // another rule
	all := findings.Of(r, "findings.json")
	data, err := findings.SARIF(all, source)
	require.NoError(t, err)
	require.NoError(t, sarifSchema(t).Validate(data))

	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct {
						ID, Name                                string
						ShortDescription, FullDescription, Help struct{ Text string }
						Properties                              struct {
							Tags     []string
							Severity string `json:"security-severity"`
						}
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &log))
	driver, results := log.Runs[0].Tool.Driver, log.Runs[0].Results
	require.Equal(t, "sealab", driver.Name)
	require.Equal(t, "v1.2.3", driver.Version)
	require.Len(t, driver.Rules, 2, "a rule for each attack")
	for _, rule := range driver.Rules {
		require.Equal(t, "UnusedBits", rule.Name)
		for _, text := range []string{rule.ShortDescription.Text, rule.FullDescription.Text, rule.Help.Text, rule.Properties.Severity} {
			require.NotEmpty(t, text)
		}
		require.Contains(t, rule.Properties.Tags, "security")
	}
	require.Contains(t, driver.Rules[0].Properties.Tags, "external/cwe/cwe-347")
	require.Len(t, results, len(all))
	for i, result := range results {
		require.Equal(t, all[i].Location.Attack, result.RuleID)
		require.Equal(t, result.RuleID, driver.Rules[result.RuleIndex].ID)
		require.NotEmpty(t, result.Message.Text)
		require.Equal(t, "workers/a%20b.py", result.Locations[0].PhysicalLocation.ArtifactLocation.URI)
		require.Equal(t, 7, result.Locations[0].PhysicalLocation.Region.StartLine)
		require.NotEmpty(t, result.PartialFingerprints["primaryLocationLineHash"])
	}
	require.Equal(t, "error", results[0].Level)

	none, err := findings.SARIF(findings.Of(&verdict.Run{}, "f"), source)
	require.NoError(t, err)
	require.NoError(t, sarifSchema(t).Validate(none))
}

// TestSARIFOfReview checks that the rule of a check describes requests to a server and no attack on a token.
func TestSARIFOfReview(t *testing.T) {
	data, err := findings.SARIF([]findings.Finding{{
		ID: "id", Severity: findings.Warning, Category: "transport",
		Location: findings.Location{Attack: "H-ORIGIN", Server: &findings.Server{Target: "http://localhost", Transport: "http"}},
		Issue:    "a foreign Origin: it is accepted", Sent: "a list with a foreign Origin", Impact: "a page of any site calls the server",
	}}, source)
	require.NoError(t, err)
	require.NoError(t, sarifSchema(t).Validate(data))
	require.Contains(t, string(data),
		`"The server fails the check \"a foreign Origin\". Sent: a list with a foreign Origin. Impact: a page of any site calls the server."`)
	require.NotContains(t, string(data), "sealed token")
}

// TestSARIFSchemaRings checks that the schema rejects invalid logs.
func TestSARIFSchemaRings(t *testing.T) {
	data, err := findings.SARIF(findings.Of(run(), "findings.json"), source)
	require.NoError(t, err)
	for from, to := range map[string]string{`"error"`: `"fatal"`, `"startLine": 7`: `"startLine": 0`, `"2.1.0"`: `"2.0"`, `"driver"`: `"diver"`} {
		bad := bytes.Replace(data, []byte(from), []byte(to), 1)
		require.NotEqual(t, data, bad, from)
		require.Error(t, sarifSchema(t).Validate(bad), "%s for %s", to, from)
	}
}
