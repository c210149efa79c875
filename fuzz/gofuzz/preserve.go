package gofuzz

// Preserve names the packages that go-fuzz-build must not instrument, separated
// by commas: compiler directives of theirs would no longer stand where the
// compiler wants them.
const Preserve = "github.com/cloudflare/circl/math/fp25519,github.com/cloudflare/circl/math/fp448," +
	"github.com/cloudflare/circl/dh/x448,github.com/cloudflare/circl/dh/x25519,crypto/internal/fips140/bigmod"
