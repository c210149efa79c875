package codecs

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Design is one row of the catalog: a codec or a scheme, its sizes, and its
// guarantees. Exactly one of NewCodec and NewScheme is set.
type Design struct {
	Name    string   // lower case, digits and hyphens: "aes-256-gcm"
	Doc     string   // one line, without a full stop
	Spec    string   // the specification and its version
	Prefix  string   // the text at the start of every token; "" if it varies
	Over    string   // for claims over a codec, the name of that codec; else ""
	Format  string   // the name of a wire format that several rows share; "" if the format is its own
	MaxKeys int      // maximum number of keys in a ring; 0: no limit
	KeySize int      // exact length of a secret in bytes; 0: any length from MinSecret on
	Options []Option // the options that Config.Options may set

	// Guarantees returns the guarantees of the design under options, in which
	// every option is set. Callers use GuaranteesFor, which adds the defaults.
	Guarantees func(options map[string]string) []Guarantee

	// NewCodec and NewScheme open the design. Callers use OpenCodec and
	// OpenScheme, which first check the Config and complete its Options.
	NewCodec  func(Config) (Codec, error)
	NewScheme func(Config) (Scheme, error)

	// Hooks serves the instruments of this module. It may be nil.
	Hooks any
}

// SharesFormat reports whether d and other read the same wire format, so that
// each accepts the other's tokens.
func (d *Design) SharesFormat(other Design) bool {
	return d.Format != "" && d.Format == other.Format
}

// MinSecret is the shortest secret that any design accepts, in bytes.
const MinSecret = 32

// A Config holds the keys and settings that a design is opened with.
type Config struct {
	// Secrets is the key ring: the first secret seals, every one unseals. They
	// are copied.
	Secrets [][]byte
	// TTL is the lifetime of minted tokens. nil: the design's default. Codecs
	// ignore it.
	TTL *time.Duration
	// Options select a variant of the design. A name or value that the design
	// does not list is an error.
	Options map[string]string
	// Clock bounds the age of long-lived sealing contexts, in designs that keep
	// them. nil: only a count bounds them. Clock never decides whether a token
	// is accepted.
	Clock func() time.Time
}

// TTLOr returns the TTL of c, or otherwise if it is nil.
func (c Config) TTLOr(otherwise time.Duration) time.Duration {
	if c.TTL == nil {
		return otherwise
	}
	return *c.TTL
}

// OpenCodec opens the design as a codec. The error is ErrUnsupported if the
// design is a scheme. Otherwise it says which part of c does not suit the
// design.
func (d *Design) OpenCodec(c Config) (Codec, error) {
	if d.NewCodec == nil {
		return nil, fmt.Errorf("%s is not a codec: %w", d.Name, ErrUnsupported)
	}
	c, err := d.complete(c)
	if err != nil {
		return nil, err
	}
	return d.NewCodec(c)
}

// OpenScheme opens the design as a scheme. The error is ErrUnsupported if the
// design is a codec. Otherwise it says which part of c does not suit the
// design.
func (d *Design) OpenScheme(c Config) (Scheme, error) {
	if d.NewScheme == nil {
		return nil, fmt.Errorf("%s is not a scheme: %w", d.Name, ErrUnsupported)
	}
	c, err := d.complete(c)
	if err != nil {
		return nil, err
	}
	return d.NewScheme(c)
}

// complete checks the Config against the row and fills in Options.
func (d *Design) complete(c Config) (Config, error) {
	if d.MaxKeys > 0 && len(c.Secrets) > d.MaxKeys {
		return c, fmt.Errorf("%s takes %d secret(s) and was given %d", d.Name, d.MaxKeys, len(c.Secrets))
	}
	for i, s := range c.Secrets {
		if d.KeySize > 0 && len(s) != d.KeySize {
			return c, fmt.Errorf("secret %d of %d has %d bytes; %s takes exactly %d", i+1, len(c.Secrets), len(s), d.Name, d.KeySize)
		}
	}
	options, err := d.Choose(c)
	c.Options = options
	return c, err
}

// An Option is a setting of a design.
type Option struct {
	Name   string
	Doc    string
	Values []string // every accepted value; the first is the default
}

// Choose returns the options of c, completed with the design's defaults. It
// fails on a name or value that the design does not list.
func (d *Design) Choose(c Config) (map[string]string, error) {
	chosen := d.defaults()
	for name, value := range c.Options {
		i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no option %q; there are %s", d.Name, name, d.optionNames())
		}
		if !slices.Contains(d.Options[i].Values, value) {
			return nil, fmt.Errorf("%s: option %s: %q is not one of %q", d.Name, name, value, d.Options[i].Values)
		}
		chosen[name] = value
	}
	return chosen, nil
}

// defaults returns the default of every option.
func (d *Design) defaults() map[string]string {
	chosen := make(map[string]string, len(d.Options))
	for _, o := range d.Options {
		chosen[o.Name] = o.Values[0]
	}
	return chosen
}

// optionNames lists the names of the options for an error message.
func (d *Design) optionNames() string {
	if len(d.Options) == 0 {
		return "none"
	}
	names := make([]string, len(d.Options))
	for i, o := range d.Options {
		names[i] = o.Name
	}
	return strings.Join(names, ", ")
}
