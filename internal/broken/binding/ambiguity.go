package binding

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"net/netip"
	"regexp"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Fields returns controls that join fields ambiguously.
func Fields() []skeleton.Control {
	return []skeleton.Control{
		contextAs("prompt-target", "the target of prompts is not bound if there is no audience", []codecs.Property{codecs.BindsTarget}, []string{"CTX-17"}, func(c *codecs.Context) {
			if c.Method == "prompts/get" && c.Audience == nil {
				c.Target = ""
			}
		}),
		bindingControl("joined-if-present", "absent fields are left out, and the others joined by a bar", []codecs.Property{codecs.Unambiguous}, []string{"CTX-18"}, func(c *codecs.Context) string {
			parts := []string{c.Method, c.Target, string(c.Arguments)}
			for _, f := range []*string{c.Principal, c.Audience} {
				if f != nil {
					parts = append(parts, *f)
				}
			}
			return strings.Join(parts, "|")
		}),
		bindingControl("joined-with-marks", "fields are joined by NUL, with a plus in front of each that is present", []codecs.Property{codecs.Unambiguous}, []string{"CTX-04"}, func(c *codecs.Context) string {
			arguments, all := string(c.Arguments), ""
			for _, f := range []*string{&c.Method, &c.Target, c.Principal, c.Audience, &arguments} {
				if f != nil {
					all += "+" + *f
				}
				all += "\x00"
			}
			return all
		}),
		bindingControl("empty-left-out", "fields are joined with their lengths, and empty ones are left out", []codecs.Property{codecs.Unambiguous}, []string{"CTX-08"}, func(c *codecs.Context) string {
			all := fmt.Sprint(c.Principal == nil, c.Audience == nil)
			for _, f := range contextTexts(c) {
				if f != "" {
					all += fmt.Sprint(len(f), ":", f)
				}
			}
			return all
		}),
		bindingControl("marked-and-half-escaped", "fields begin with a plus and are joined by a bar that is escaped, and the escape is not", []codecs.Property{codecs.Unambiguous}, []string{"CTX-18"},
			func(c *codecs.Context) string {
				field := func(s *string) string {
					if s == nil {
						return "-"
					}
					return "+" + strings.ReplaceAll(*s, "|", `\|`)
				}
				return strings.Join([]string{field(&c.Method), field(&c.Target), field(c.Principal), field(c.Audience), string(c.Arguments)}, "|")
			}),
		bindingControl("lines-half-escaped", "fields are lines, in which line feeds are escaped and the escape is not", []codecs.Property{codecs.Unambiguous}, []string{"CTX-18"}, halfEscaped("\n", `\n`)),
		bindingControl("half-escaped", "fields are joined by a colon that is escaped, and the escape is not", []codecs.Property{codecs.Unambiguous}, []string{"CTX-18"}, halfEscaped(":", `\:`)),
		bindingControl("length-of-two-bytes", "fields are joined with lengths of two bytes in front of all of them",
			[]codecs.Property{codecs.Unambiguous, codecs.BindsPrincipal, codecs.BindsAudience}, []string{"CTX-18"}, func(c *codecs.Context) string {
				var lengths, all strings.Builder
				for _, f := range contextTexts(c) {
					lengths.Write(binary.BigEndian.AppendUint16(nil, uint16(len(f))))
					all.WriteString(f)
				}
				return lengths.String() + all.String()
			}),
		markedLengths("marked-length-byte", 0, "\x01\x01\x01\x01\x01"),
		markedLengths("signed-length-byte", '-', "+++++"),
		markedLengths("lettered-length-byte", '-', "ABCDE"),
	}
}

// halfEscaped joins the fields with a separator and replaces the separator within them.
func halfEscaped(separator, written string) func(*codecs.Context) string {
	return func(c *codecs.Context) string {
		all := ""
		for _, f := range contextTexts(c) {
			all += strings.ReplaceAll(f, separator, written) + separator
		}
		return all + fmt.Sprint(c.Principal == nil, c.Audience == nil)
	}
}

// markedLengths returns a control that writes a mark and a length of one byte for each field that is present.
func markedLengths(name string, absent byte, present string) skeleton.Control {
	return bindingControl(name, "each field has a mark if it is present, and a length of one byte", []codecs.Property{codecs.Unambiguous}, []string{"CTX-18"}, func(c *codecs.Context) string {
		var all strings.Builder
		arguments := string(c.Arguments)
		for i, f := range []*string{&c.Method, &c.Target, &arguments, c.Principal, c.Audience} {
			if f == nil {
				all.WriteByte(absent)
				continue
			}
			all.WriteString(string([]byte{present[i], byte(len(*f))}) + *f)
		}
		return all.String()
	})
}

// Values returns controls that misread one field.
func Values() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewScheme("principal-hash", "a digest of 16 bits of the principal is bound, and the token has no salt",
			[]codecs.Property{codecs.BindsPrincipal, codecs.Unambiguous, codecs.Unlinkable}, []string{"CTX-16"}, func(p *skeleton.SchemeParts) {
				p.Salt = func() []byte { return nil }
				p.Binding = func(c *codecs.Context) string {
					less, h := *c, fnv.New32a()
					h.Write([]byte(skeleton.TextOrEmpty(c.Principal)))
					less.Principal = new(fmt.Sprint(h.Sum32()>>16, c.Principal == nil))
					return skeleton.EncodeContext(&less)
				}
			}),
		contextAs("method-family", "of a method the part in front of the slash is bound", []codecs.Property{codecs.BindsMethod, codecs.Unambiguous}, []string{"CTX-06"}, func(c *codecs.Context) {
			c.Method, _, _ = strings.Cut(c.Method, "/")
		}),
		contextAs("principal-alone", "the principal is lower-cased if there is no audience", []codecs.Property{codecs.BindsPrincipal, codecs.Unambiguous}, []string{"CTX-05"}, func(c *codecs.Context) {
			if c.Principal != nil && c.Audience == nil {
				c.Principal = new(strings.ToLower(*c.Principal))
			}
		}),
		contextAs("no-arguments", "no arguments are the empty list", []codecs.Property{codecs.Unambiguous}, []string{"CTX-03"}, func(c *codecs.Context) {
			if c.Arguments == nil {
				c.Arguments = []byte("[]")
			}
		}),
		principalAs("principal-ends", "of a long principal the ends and the length are bound", "CTX-11", func(p string) string {
			if len(p) <= 128 {
				return p
			}
			return fmt.Sprint(p[:64], len(p), p[len(p)-64:])
		}),
		principalAs("principal-hashed", "a principal of 64 hexadecimal digits is taken for a digest", "CTX-06", func(p string) string {
			if raw, err := hex.DecodeString(p); err == nil && len(raw) == sha256.Size {
				return p
			}
			return fmt.Sprintf("%x", sha256.Sum256([]byte(p)))
		}),
		principalAs("principal-fnv", "a digest of the principal by FNV-1 is bound", "CTX-06", func(p string) string {
			h := fnv.New32()
			h.Write([]byte(p))
			return fmt.Sprint(h.Sum32())
		}),
		principalAs("principal-entities", "entities of HTML in a principal are resolved", "CTX-05", html.UnescapeString),
		principalAs("principal-unpadded", "the padding of a principal in base64 is stripped", "CTX-06", func(p string) string { return strings.TrimRight(p, "=") }),
		contextAs("arguments-entities", "entities of HTML in arguments are resolved", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-05"}, func(c *codecs.Context) {
			c.Arguments = []byte(html.UnescapeString(string(c.Arguments)))
		}),
		contextAs("arguments-redacted", "the member password of the arguments is left out", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			c.Arguments = regexp.MustCompile(`"password":"[^"\\]*"`).ReplaceAll(c.Arguments, []byte(`"password":""`))
		}),
		contextAs("arguments-undated", "members of the arguments whose names end in _at are left out", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			c.Arguments = regexp.MustCompile(`_at":"[^"\\]*"`).ReplaceAll(c.Arguments, []byte(`_at":""`))
		}),
		contextAs("unescaped-texts", "texts are written between quotes as they are", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			c.Arguments = bytes.ReplaceAll(c.Arguments, []byte(`\"`), []byte(`"`))
		}),
		contextAs("shallow-numbers", "numbers inside of objects are read as floating point", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			var members map[string]any
			if json.Unmarshal(c.Arguments, &members) == nil && members != nil {
				c.Arguments = skeleton.InJSON(members)
			}
		}),
	}
}

// Names returns controls that misread structured principals or their digests.
func Names() []skeleton.Control {
	return []skeleton.Control{
		principalAs("principal-comment", "a principal ends at a comment of XML", "CTX-05", func(p string) string {
			p, _, _ = strings.Cut(p, "<!--")
			return p
		}),
		principalAs("principal-number", "digests of principals are compared as numbers if they are both", "CTX-06", func(p string) string {
			sum := fmt.Sprintf("%x", md5.Sum([]byte(p)))
			if exponent, ok := strings.CutPrefix(sum, "0e"); ok && strings.Trim(exponent, "0123456789") == "" {
				return "0"
			}
			return sum
		}),
		principalAs("principal-of-provider", "full stops in the mail names of one provider are left out", "CTX-19", func(p string) string {
			if name, ok := strings.CutSuffix(p, "@gmail.com"); ok {
				return strings.ReplaceAll(name, ".", "") + "@gmail.com"
			}
			return p
		}),
		principalAs("principal-url", "the scheme and host of a principal are lower-cased", "CTX-19", func(p string) string {
			scheme, rest, ok := strings.Cut(p, "://")
			if !ok {
				return p
			}
			host, path, _ := strings.Cut(rest, "/")
			return strings.ToLower(scheme+"://"+host) + "/" + path
		}),
		principalAs("principal-address", "an address in a URL is written in one form, and an ideographic full stop as that of ASCII", "CTX-19", func(p string) string {
			p = strings.ReplaceAll(p, "\u3002", ".")
			host, path, _ := strings.Cut(strings.TrimPrefix(p, "https://"), "/")
			a, err := netip.ParseAddr(strings.Trim(host, "[]"))
			if err != nil || !strings.HasPrefix(p, "https://") {
				return p
			}
			return "https://" + a.StringExpanded() + "/" + path
		}),
		principalAs("principal-digest", "of a long principal the hexadecimal SHA-256 is bound, as another principal may be called", "CTX-11", func(p string) string {
			if len(p) <= 64 {
				return p
			}
			return hex.EncodeToString(skeleton.Sum256([]byte(p)))
		}),
		principalAs("principal-sum", "of a long principal the sum of its bytes is bound", "CTX-11", func(p string) string {
			if len(p) <= 128 {
				return p
			}
			sum := 0
			for _, b := range []byte(p) {
				sum += int(b)
			}
			return fmt.Sprint(len(p), sum)
		}),
		principalAs("principal-account", "the domain of an account is left out", "CTX-19", func(p string) string {
			_, name, ok := strings.Cut(p, `\`)
			if !ok {
				return p
			}
			return name
		}),
	}
}
