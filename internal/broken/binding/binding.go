// Package binding holds the negative controls of binding: schemes that take one context for another.
package binding

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// contextAs returns a control that binds the context after change has modified it.
func contextAs(name, doc string, broken []codecs.Property, attacks []string, change func(*codecs.Context)) skeleton.Control {
	return bindingControl(name, doc, broken, attacks, func(c *codecs.Context) string {
		changed := *c
		change(&changed)
		return skeleton.EncodeContext(&changed)
	})
}

// bindingControl returns a control that binds the text that binding returns.
func bindingControl(name, doc string, broken []codecs.Property, attacks []string, binding func(*codecs.Context) string) skeleton.Control {
	return skeleton.NewScheme(name, doc, broken, attacks, func(p *skeleton.SchemeParts) { p.Binding = binding })
}

// Unbound returns schemes that do not bind one field.
func Unbound() []skeleton.Control {
	without := func(field, attack string, p codecs.Property, clear func(*codecs.Context)) skeleton.Control {
		return contextAs("unbound-"+field, "the "+field+" is not bound", []codecs.Property{p}, []string{attack}, clear)
	}
	return []skeleton.Control{
		without("method", "CTX-02", codecs.BindsMethod, func(b *codecs.Context) { b.Method = "" }),
		without("target", "CTX-09", codecs.BindsTarget, func(b *codecs.Context) { b.Target = "" }),
		without("arguments", "CTX-10", codecs.BindsArguments, func(b *codecs.Context) { b.Arguments = nil }),
		without("principal", "CTX-01", codecs.BindsPrincipal, func(b *codecs.Context) { b.Principal = nil }),
		without("audience", "CTX-07", codecs.BindsAudience, func(b *codecs.Context) { b.Audience = nil }),
		contextAs("argument-object", "arguments that are no object end the program", []codecs.Property{codecs.Total}, []string{"RES-06"}, func(c *codecs.Context) {
			var members any
			if c.Arguments != nil && json.Unmarshal(c.Arguments, &members) == nil {
				_ = members.(map[string]any)
			}
		}),
		bindingControl("argument-names", "the names of arguments are bound and not their values", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-10"}, func(b *codecs.Context) string {
			var members map[string]json.RawMessage
			less := *b
			less.Arguments = nil
			if json.Unmarshal(b.Arguments, &members) != nil {
				return skeleton.EncodeContext(b)
			}
			return skeleton.EncodeContext(&less) + strings.Join(slices.Sorted(maps.Keys(members)), ",")
		}),
	}
}

// principalAs returns a control that binds read(principal).
func principalAs(name, doc, attack string, read func(string) string) skeleton.Control {
	return contextAs(name, doc, []codecs.Property{codecs.BindsPrincipal, codecs.Unambiguous}, []string{attack}, func(c *codecs.Context) {
		if c.Principal != nil {
			c.Principal = new(read(*c.Principal))
		}
	})
}

// contextTexts returns the texts of a context, with "" for absent ones.
func contextTexts(c *codecs.Context) []string {
	return []string{c.Method, c.Target, string(c.Arguments), skeleton.TextOrEmpty(c.Principal), skeleton.TextOrEmpty(c.Audience)}
}

// joinedFieldsControl returns a control that joins the bound fields with a separator.
func joinedFieldsControl(name, doc, separator string) skeleton.Control {
	return bindingControl(name, doc, []codecs.Property{codecs.Unambiguous, codecs.BindsPrincipal, codecs.BindsAudience}, []string{"CTX-04"}, func(b *codecs.Context) string {
		return strings.Join(contextTexts(b), separator)
	})
}

// Equated returns schemes that map different contexts to one binding.
func Equated() []skeleton.Control {
	return []skeleton.Control{
		principalAs("principal-prefix", "the first five bytes of the principal are bound", "CTX-06", func(p string) string { return p[:min(5, len(p))] }),
		principalAs("principal-case", "the principal is lower-cased", "CTX-05", strings.ToLower),
		principalAs("principal-trimmed", "white space around the principal is trimmed", "CTX-05", strings.TrimSpace),
		principalAs("principal-wide-space", "spaces that are not ASCII are trimmed from the principal", "CTX-05", func(p string) string { return strings.Trim(p, "\u00a0\u2003\u3000") }),
		principalAs("principal-typographic", "typographic apostrophes and hyphens in the principal become those of ASCII", "CTX-05", strings.NewReplacer("\u2019", "'", "\u2010", "-").Replace),
		principalAs("principal-checksum", "of a long principal its CRC-32 is bound", "CTX-11", func(p string) string {
			if len(p) < 256 {
				return p
			}
			return fmt.Sprint(crc32.ChecksumIEEE([]byte(p)))
		}),
		principalAs("principal-nul", "the principal ends at a NUL", "CTX-05", func(p string) string {
			p, _, _ = strings.Cut(p, "\x00")
			return p
		}),
		principalAs("principal-domain", "what follows @ is left out", "CTX-19", func(p string) string {
			p, _, _ = strings.Cut(p, "@")
			return p
		}),
		principalAs("principal-resource", "what follows a slash behind @ is left out", "CTX-19", func(p string) string {
			if at := strings.LastIndexByte(p, '/'); at > strings.LastIndexByte(p, '@') && strings.Contains(p, "@") {
				return p[:at]
			}
			return p
		}),
		principalAs("principal-of-tenant", "of the principal the text behind two underscores is bound", "CTX-06", func(p string) string { return p[strings.LastIndex("__"+p, "__"):] }),
		skeleton.NewWrappedScheme("audience-pattern", "an audience in a token that begins with *. stands for every host of its domain", []codecs.Property{codecs.BindsAudience, codecs.Unambiguous}, []string{"CTX-19"},
			func(inner codecs.Scheme) codecs.Scheme { return hostPatternScheme{inner} }),
		principalAs("principal-long", "a principal is cut to 64 bytes", "CTX-11", func(p string) string { return p[:min(64, len(p))] }),
		principalAs("principal-digest", "of the principal a digest of one byte is bound", "CTX-16", func(p string) string {
			d := sha256.Sum256([]byte(p))
			return hex.EncodeToString(d[:1])
		}),
		contextAs("absent-is-empty", "no principal is the empty principal", []codecs.Property{codecs.BindsPrincipal, codecs.Unambiguous}, []string{"CTX-03"}, func(c *codecs.Context) {
			c.Principal = new(skeleton.TextOrEmpty(c.Principal))
		}),
		joinedFieldsControl("glued", "fields are glued without lengths", ""),
		joinedFieldsControl("joined-nul", "fields are joined by NUL", "\x00"),
		joinedFieldsControl("joined-bar", "fields are joined by a bar", "|"),
		bindingControl("length-byte", "fields are joined with lengths of one byte", []codecs.Property{codecs.Unambiguous, codecs.BindsPrincipal, codecs.BindsAudience}, []string{"CTX-04"}, func(b *codecs.Context) string {
			var all strings.Builder
			for _, f := range contextTexts(b) {
				all.WriteByte(byte(len(f)))
				all.WriteString(f)
			}
			return all.String()
		}),
		bindingControl("without-order", "digests of the fields are added up", []codecs.Property{codecs.Unambiguous}, []string{"CTX-08"}, func(b *codecs.Context) string {
			var sum uint64
			for _, f := range contextTexts(b) {
				d := sha256.Sum256([]byte(f))
				sum += binary.BigEndian.Uint64(d[:])
			}
			absent := []bool{b.Arguments == nil, b.Principal == nil, b.Audience == nil}
			return string(skeleton.InJSON([]any{sum, absent}))
		}),
		bindingControl("digits-in-front", "each field is written behind its length in decimal digits", []codecs.Property{codecs.Unambiguous}, []string{"CTX-04"}, func(b *codecs.Context) string {
			written := fmt.Sprintf("%t%t%t", b.Arguments == nil, b.Principal == nil, b.Audience == nil)
			for _, s := range contextTexts(b) {
				written += strconv.Itoa(len(s)) + s
			}
			return written
		}),
		bindingControl("as-query", "fields are written as a query, without escapes", []codecs.Property{codecs.Unambiguous, codecs.BindsPrincipal, codecs.BindsAudience}, []string{"CTX-12"}, func(b *codecs.Context) string {
			return "method=" + b.Method + "&target=" + b.Target + "&arguments=" + string(b.Arguments) + "&principal=" + skeleton.TextOrEmpty(b.Principal) + "&audience=" + skeleton.TextOrEmpty(b.Audience)
		}),
	}
}

// A hostPatternScheme verifies a token for a host as one for all hosts of its domain as well.
type hostPatternScheme struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s hostPatternScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	_, domain, ok := strings.Cut(skeleton.TextOrEmpty(b.Audience), ".")
	if err == nil || !ok {
		return out, err
	}
	pattern := *b
	pattern.Audience = new("*." + domain)
	return s.Scheme.Verify(dst, token, &pattern)
}
