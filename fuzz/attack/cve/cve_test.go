package cve_test

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks"
	"sealab/fuzz/attack/cve"
	"sealab/internal/testenv"
)

var all = flag.Bool("cases", false, "attack every case that is installed, and not some")

// root is the path of the module root.
const root = "../../.."

func TestCases(t *testing.T) {
	for _, c := range cve.Cases() {
		a, err := attack.Find(attacks.All(), c.Attack)
		require.NoError(t, err, c.CVE)
		require.True(t, a.Aims(c.Property), "%s: %s does not aim at %s", c.CVE, c.Attack, c.Property)
		require.NotEmpty(t, c.Row)
		require.NotEqual(t, c.Vulnerable, c.Fixed)
	}
	for _, e := range cve.OutOfScope() {
		require.NotEmpty(t, e.Reason, e.CVE)
	}
}

// TestRediscovery attacks the vulnerable and fixed versions that are installed, with the attack
// for the class of each vulnerability.
func TestRediscovery(t *testing.T) {
	bench := cve.Bench{Root: root, Attacks: attacks.All(), Seed: 1, Budget: time.Minute, Now: time.Now, Class: true}
	for _, c := range cve.Cases() {
		if !*all && c.Library != "authlib" && c.Library != "node-jose" || !*all && c.Attack == "PAY-04" {
			continue
		}
		t.Run(c.CVE, func(t *testing.T) {
			if why := c.Unavailable(root); why != "" {
				testenv.Skip(t, "%s", why)
			}
			o, err := bench.Attack(c)
			require.NoError(t, err)
			require.True(t, o.Rediscovered(), "found by %v, the fixed version falls by %v, both by %v", o.Found, o.Fixed, o.Both)
		})
	}
}
