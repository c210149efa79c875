package kit

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/vectors"
)

// A Setting is the configuration and context in which a token is made or read.
type Setting struct {
	Keys    []string // names of secrets: the first seals, every one unseals
	Options map[string]string
	// TTL and Context apply to schemes. A codec ignores them.
	TTL     time.Duration
	Context codecs.Context
}

// SettingOf returns the setting in which t is read.
func SettingOf(t *vectors.Test) (Setting, error) {
	return setting(t.Keys, t.Options, t.Binding, t.Now, t.TTL)
}

func setting(keys []string, options map[string]string, b *vectors.Binding, now, ttl *vectors.Seconds) (Setting, error) {
	set := Setting{Keys: keys, Options: options, Context: b.Codecs()}
	var err error
	if now != nil {
		if set.Context.Now, err = now.Time(); err != nil {
			return set, err
		}
	}
	if ttl != nil {
		if set.TTL, err = ttl.Duration(); err != nil {
			return set, err
		}
	}
	return set, nil
}

// Describe returns the setting in the form of the vectors, for a codec or a
// scheme.
func (set Setting) Describe(scheme bool) (*vectors.Minted, error) {
	m := &vectors.Minted{Keys: slices.Clone(set.Keys)}
	if !scheme {
		return m, nil
	}
	b, ok := vectors.BindingOf(set.Context)
	if !ok {
		return nil, fmt.Errorf("a text of the binding is not UTF-8: %w", codecs.ErrUnsupported)
	}
	now, ttl := vectors.UnixSeconds(set.Context.Now), vectors.DurationSeconds(set.TTL)
	m.Binding, m.Now, m.TTL = b, &now, &ttl
	return m, nil
}

// Clone returns a copy that shares only values that are never modified in
// place.
func (set Setting) Clone() Setting {
	set.Keys, set.Options = slices.Clone(set.Keys), maps.Clone(set.Options)
	set.Context.Arguments = slices.Clone(set.Context.Arguments)
	return set
}
