// Package preserve is the list of packages that go-fuzz-build must leave alone.
package preserve

// Packages names what must not be instrumented, separated by commas: the
// compiler directives of these packages' assembly stubs would no longer stand
// where the compiler wants them.
const Packages = "github.com/cloudflare/circl/math/fp25519,github.com/cloudflare/circl/math/fp448," +
	"github.com/cloudflare/circl/dh/x448,github.com/cloudflare/circl/dh/x25519,crypto/internal/fips140/bigmod"
