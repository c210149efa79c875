package binding

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// RareBranches returns controls whose mistake shows only for some tokens, contexts or times, or on
// only one of several code paths.
func RareBranches() []skeleton.Control {
	return []skeleton.Control{
		contextAs("method-of-users", "the method is bound for those who are signed in", []codecs.Property{codecs.BindsMethod}, []string{"CTX-14"}, func(c *codecs.Context) {
			if c.Principal == nil {
				c.Method = ""
			}
		}),
		skeleton.NewScheme("nothing-to-compare", "a context without a value asks for no comparison",
			[]codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience}, []string{"CTX-14"}, func(p *skeleton.SchemeParts) {
				p.Compared = func(c *codecs.Context) bool { return strings.Join(contextTexts(c), "") != "" }
			}),
		contextAs("target-beside-long", "the target is not bound if the arguments have more than 1 KiB", []codecs.Property{codecs.BindsTarget}, []string{"CTX-17"}, func(c *codecs.Context) {
			if len(c.Arguments) > 1<<10 {
				c.Target = ""
			}
		}),
		contextAs("arguments-of-resources", "the arguments are not bound if the method is about resources", []codecs.Property{codecs.BindsArguments}, []string{"CTX-17"}, func(c *codecs.Context) {
			if strings.HasPrefix(c.Method, "resources/") {
				c.Arguments = nil
			}
		}),
		contextAs("principal-of-services", "the audience is not bound if the principal is a service", []codecs.Property{codecs.BindsAudience}, []string{"CTX-17"}, func(c *codecs.Context) {
			if strings.HasPrefix(skeleton.TextOrEmpty(c.Principal), "service:") {
				c.Audience = nil
			}
		}),
		skeleton.NewWrappedScheme("early-prompts", "the time of issue is not read for prompts", []codecs.Property{codecs.Expiry}, []string{"EXP-07"}, func(inner codecs.Scheme) codecs.Scheme { return earlyPrompts{inner} }),
		targetOf("resources/read", "target-of-resources", "the target is lower-cased if it is a resource", strings.ToLower),
		targetOf("x/unknown", "target-of-others", "of the target of an unknown method the last part is bound", path.Base),
		contextAs("target-as-path", "a target that begins with a slash is cleaned as a path", []codecs.Property{codecs.BindsTarget, codecs.Unambiguous}, []string{"CTX-19"}, func(c *codecs.Context) {
			if strings.HasPrefix(c.Target, "/") {
				c.Target = path.Clean(c.Target)
			}
		}),
		contextAs("numbers-of-prompts", "numbers are read as floating point for prompts", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			var members any
			if c.Method == "prompts/get" && json.Unmarshal(c.Arguments, &members) == nil {
				c.Arguments = skeleton.InJSON(members)
			}
		}),
		contextAs("scopes-sorted", "the scopes of the arguments are sorted", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, withSortedScopes),
		contextAs("null-members", "members that are null are left out of the arguments", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, withoutNulls),
		contextAs("members-summed", "the digests of members are summed by exclusive or", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, membersSummed),
		skeleton.WrapScheme(skeleton.WithClaim(contextAs("used-by-method", "used tokens are kept with their method, which is not bound", []codecs.Property{codecs.SingleUse, codecs.BindsMethod}, []string{"EXP-05"}, func(c *codecs.Context) {
			c.Method = ""
		}), codecs.SingleUse), skeleton.UsedOnce(func(c *codecs.Context) string { return c.Method })),
		skeleton.NewScheme("expiry-as-text", "times are compared as texts", []codecs.Property{codecs.Expiry}, []string{"EXP-07"}, func(p *skeleton.SchemeParts) {
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return c.IssuedBy(now) && c.Expires != nil && formatDecimal(skeleton.UnixSeconds(now)) < formatDecimal(*c.Expires)
			}
		}),
	}
}

// An earlyPrompts scheme accepts a token for a prompt up to two days before the token was minted.
type earlyPrompts struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s earlyPrompts) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, c)
	for later := time.Hour; err != nil && c.Method == "prompts/get" && later <= 48*time.Hour; later += time.Hour {
		out, err = s.Scheme.Verify(dst, token, skeleton.Shifted(c, later))
	}
	return out, err
}

// targetOf returns a control that binds read(target) for one method.
func targetOf(method, name, doc string, read func(string) string) skeleton.Control {
	return contextAs(name, doc, []codecs.Property{codecs.BindsTarget, codecs.Unambiguous}, []string{"CTX-19"}, func(c *codecs.Context) {
		if c.Method == method {
			c.Target = read(c.Target)
		}
	})
}

// withoutNulls removes null members from the arguments.
func withoutNulls(c *codecs.Context) {
	var members map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &members) == nil && members != nil {
		maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
		c.Arguments = skeleton.InJSON(members)
	}
}

// withSortedScopes sorts the list of scopes in the arguments.
func withSortedScopes(c *codecs.Context) {
	var members map[string]json.RawMessage
	var scopes []string
	if json.Unmarshal(c.Arguments, &members) == nil && json.Unmarshal(members["scopes"], &scopes) == nil {
		slices.Sort(scopes)
		members["scopes"] = skeleton.InJSON(scopes)
		c.Arguments = skeleton.InJSON(members)
	}
}

// membersSummed replaces the arguments by the XOR of the digests of their members.
func membersSummed(c *codecs.Context) {
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return
	}
	sum := make([]byte, sha256.Size)
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return
		}
		member := sha256.Sum256(fmt.Appendf(nil, "%q %s", name, value))
		subtle.XORBytes(sum, sum, member[:])
	}
	c.Arguments = sum
}

func formatDecimal(seconds float64) string { return strconv.FormatFloat(seconds, 'f', -1, 64) }
