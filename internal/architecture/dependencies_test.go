package architecture

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/command"
)

// dependencies are the modules that go.mod may require directly, each with its
// reason.
var dependencies = map[string]string{
	"aidanwoods.dev/go-paseto":                 "Go library: PASETO v4.local",
	"filippo.io/mldsa":                         "ML-DSA, until the Go version of go.mod has crypto/mldsa",
	"github.com/chromedp/cdproto":              "the events of Chromium, of chromedp",
	"github.com/chromedp/chromedp":             "the pages of results are tested in a browser; tests only",
	"github.com/cloudflare/circl":              "HPKE in PSK mode, which the standard library's crypto/hpke does not have",
	"github.com/dvyukov/go-fuzz":               "second fuzz engine, which runs as a fleet, as tools of go.mod",
	"github.com/emmansun/base64":               "base64 with vector instructions, for every processor that has them; each call costs less than with segmentio/asm",
	"github.com/ericlagergren/aegis":           "AEGIS-256, which no other Go package with assembly has",
	"github.com/ericlagergren/polyval":         "POLYVAL, for tokens that AES-GCM-SIV opens under two keys",
	"github.com/ericlagergren/siv":             "AES-GCM-SIV with assembly, three times as fast as Tink's",
	"github.com/fernet/fernet-go":              "Go library: Fernet",
	"github.com/go-jose/go-jose/v4":            "Go library: JWE",
	"github.com/golang-jwt/jwt/v5":             "Go library: JWT",
	"github.com/google/jsonschema-go":          "the schemas of the JSON outputs, from their Go types; tests only",
	"github.com/google/pprof":                  "reads the processor profile that says what share of a fuzz target is cryptography",
	"github.com/gorilla/securecookie":          "Go library: signed and encrypted cookies",
	"github.com/lestrrat-go/jwx/v3":            "Go library: JWE and JWS, second reading",
	"github.com/mark3labs/mcp-go":              "the other SDK that the boundary has an adapter for",
	"github.com/modelcontextprotocol/go-sdk":   "the SDK whose servers the boundary protects, and the example server",
	"github.com/redis/go-redis/v9":             "Redis, one of the two stores of used tokens; only codecs/boundary/redisstore imports it",
	"github.com/jackc/pgx/v5":                  "PostgreSQL, with which the SQL store is tested",
	"modernc.org/sqlite":                       "SQLite without cgo, with which the SQL store is tested",
	"github.com/rogpeppe/go-internal":          "testscript: the command is tested as it is typed",
	"github.com/santhosh-tekuri/jsonschema/v6": "JSON Schema 2020-12, which the files of vectors are held to",
	"github.com/segmentio/asm":                 "validation of UTF-8 with vector instructions, several times as fast as the standard library's",
	"github.com/spf13/cobra":                   "commands, flags and help texts",
	"github.com/spf13/pflag":                   "the flags of cobra, whose type a test of the help texts names",
	"github.com/stretchr/testify":              "assertions",
	"github.com/tink-crypto/tink-go/v2":        "AES-SIV, and second implementations of XAES-256-GCM and AES-GCM-SIV; Go library: Tink's AEAD",
	"github.com/yuin/goldmark":                 "the guides, from Markdown to pages",
	"go.yaml.in/yaml/v3":                       "the project file of OSS-Fuzz, which a test reads",
	"go.opentelemetry.io/otel":                 "metrics and spans of the boundary, API only; codecs/boundary/telemetry imports it",
	"go.opentelemetry.io/otel/metric":          "the same: metrics",
	"go.opentelemetry.io/otel/trace":           "the same: spans",
	"go.opentelemetry.io/otel/sdk":             "reads the spans of the boundary in its test",
	"go.opentelemetry.io/otel/sdk/metric":      "reads the metrics of the boundary in its test",
	"golang.org/x/crypto":                      "XChaCha20-Poly1305 and BLAKE2b, which the standard library does not export",
	"golang.org/x/perf":                        "the Go benchmark format, and the statistics that benchstat uses",
	"golang.org/x/sys":                         "the processor clock of a worker's process, and the instructions that a processor has",
	"golang.org/x/term":                        "whether the progress of a run is shown on a terminal",
	"gonum.org/v1/gonum":                       "quantiles, distributions and Fourier transforms, of the judges and of the tests of random bytes",
	"honnef.co/go/tools":                       "staticcheck, as a tool of go.mod",
}

func TestDependencies(t *testing.T) {
	out, err := command.Go(t.Context(), "mod", "edit", "-json")
	require.NoError(t, err)
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	require.NoError(t, json.Unmarshal(out, &mod))
	used := map[string]bool{}
	for _, r := range mod.Require {
		for _, tool := range mod.Tool {
			if strings.HasPrefix(tool.Path, r.Path) {
				r.Indirect = false
			}
		}
		if r.Indirect {
			continue
		}
		require.NotEmpty(t, dependencies[r.Path], "%s has no reason in dependencies", r.Path)
		used[r.Path] = true
	}
	for path := range dependencies {
		require.True(t, used[path], "%s has a reason and is not required", path)
	}
}

// TestContractIsStandardLibraryOnly checks that the contract imports only the standard library.
func TestContractIsStandardLibraryOnly(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != module+"/codecs" {
			continue
		}
		for _, path := range p.Imports {
			first, _, _ := strings.Cut(path, "/")
			require.False(t, strings.Contains(first, ".") || first == module, "codecs imports %s", path)
		}
		return
	}
	t.Fatal("package codecs is not there")
}
