package codecs

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Design is one row of the catalog: a codec or a scheme, its sizes, and the
// guarantees it states. Exactly one of NewCodec and NewScheme is set.
type Design struct {
	Name    string   // lower case, digits and hyphens: "aes-256-gcm"
	Doc     string   // one line, no full stop
	Spec    string   // the specification and its version
	Prefix  string   // the text at the start of every token; "" if they share none
	Over    string   // the name of the codec around which the scheme puts claims, or ""
	Format  string   // the name of a wire format that several rows share; "" if this row has its own
	MaxKeys int      // longest ring; 0: no limit
	KeySize int      // exact length of a secret in bytes; 0: MinSecret or more
	Options []Option // the choices of Config.Options

	// Guarantees returns the guarantees of the design under options, which are
	// complete. Call GuaranteesFor.
	Guarantees func(options map[string]string) []Guarantee

	// NewCodec and NewScheme open the design; call OpenCodec and
	// OpenScheme, which check the Config and complete its Options before.
	NewCodec  func(Config) (Codec, error)
	NewScheme func(Config) (Scheme, error)

	// Hooks is for the instruments of the laboratory; it may be nil.
	Hooks any
}

// SharesFormat reports whether d and other are two readings of one wire format,
// so that each takes the other's tokens.
func (d *Design) SharesFormat(other Design) bool {
	return d.Format != "" && d.Format == other.Format
}

// MinSecret is the shortest secret, in bytes, that any design takes.
const MinSecret = 32

// A Config opens a design.
type Config struct {
	// Secrets are the ring: the first seals, every one unseals. They are copied.
	Secrets [][]byte
	// TTL is how long minted tokens are good. nil: the design's default. Codecs
	// ignore it.
	TTL *time.Duration
	// Options choose among the design's variants; a name or value that the
	// design does not list is an error.
	Options map[string]string
	// Clock bounds the age of long-lived sealing contexts in designs that keep
	// one. nil: such contexts are bounded by count alone. It never decides
	// whether a token is accepted.
	Clock func() time.Time
}

// TTLOr returns the time to live, or otherwise if c has none.
func (c Config) TTLOr(otherwise time.Duration) time.Duration {
	if c.TTL == nil {
		return otherwise
	}
	return *c.TTL
}

// OpenCodec sets the design up as a codec. It fails with ErrUnsupported when the
// design is a scheme, and with a text that names the fault when c does not suit
// the design.
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

// OpenScheme is OpenCodec for schemes.
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

// An Option is one choice that a design offers.
type Option struct {
	Name   string
	Doc    string
	Values []string // every accepted value; the first is the default
}

// Choose completes the options that c gives with the design's defaults. A name
// or value that the design does not list is an error that names it.
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

// optionNames lists them for a person.
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
