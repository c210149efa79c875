package jsondoc

import (
	"encoding/json"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// maxInline is the depth to which references of a schema are followed.
const maxInline = 12

// Inline returns a schema without references and allOf. It replaces references within the document
// by their targets and merges the members of allOf. It leaves references to other documents as they
// are and does not fetch them.
func Inline(raw json.RawMessage) json.RawMessage {
	if !strings.Contains(string(raw), `"$ref"`) && !strings.Contains(string(raw), `"allOf"`) {
		return raw
	}
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return raw
	}
	out, err := json.Marshal(inlined(root, root, 0))
	if err != nil {
		return raw
	}
	return out
}

func inlined(v, root any, depth int) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i, x := range v {
			all[i] = inlined(x, root, depth)
		}
		return all
	case map[string]any:
		m := maps.Clone(v)
		if ref, ok := m["$ref"].(string); ok && depth < maxInline {
			if target, ok := pointed(root, ref).(map[string]any); ok {
				delete(m, "$ref")
				m = mergedSchema(m, inlined(target, root, depth+1))
			}
		}
		if parts, ok := m["allOf"].([]any); ok {
			delete(m, "allOf")
			for _, part := range parts {
				m = mergedSchema(m, inlined(part, root, depth+1))
			}
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if k != "$defs" && k != "definitions" && depth < maxInline {
				m[k] = inlined(m[k], root, depth+1)
			}
		}
		return m
	}
	return v
}

// pointed returns the target of a JSON pointer (RFC 6901) in a URI fragment.
func pointed(root any, ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		m, ok := root.(map[string]any)
		if part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part); !ok || part == "" {
			return root
		}
		root = m[part]
	}
	return root
}

// mergedSchema merges two schemas. A keyword of the first takes precedence.
func mergedSchema(m map[string]any, other any) map[string]any {
	for k, v := range asObject(other) {
		switch have := m[k].(type) {
		case nil:
			m[k] = v
		case map[string]any:
			if k == "properties" {
				joined := maps.Clone(asObject(v))
				maps.Copy(joined, have)
				m[k] = joined
			}
		case []any:
			if more, ok := v.([]any); ok && k == "required" {
				m[k] = append(slices.Clone(have), more...)
			}
		}
	}
	return m
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// branch returns the schema raw merged with one of its alternatives.
func branch(raw, alternative json.RawMessage) json.RawMessage {
	var base map[string]any
	var other any
	if json.Unmarshal(raw, &base) != nil || json.Unmarshal(alternative, &other) != nil {
		return alternative
	}
	delete(base, "oneOf")
	delete(base, "anyOf")
	delete(base, "default")
	joined := maps.Clone(asObject(other))
	out, err := json.Marshal(mergedSchema(joined, base))
	if err != nil || joined == nil {
		return alternative
	}
	return out
}

// matching returns a text of at least least bytes that matches a pattern, or false if it finds
// none. Different values of nth give different texts.
func matching(pattern string, least, nth int) (string, bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, more := range []int{0, 1, 2, 4, 8, 16, 32} {
		var b strings.Builder
		writeMatch(&b, parsed.Simplify(), more, nth)
		if text := b.String(); len(text) >= least && compiled.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// writeMatch writes a text for a part of a pattern. Repetitions have more iterations above their
// minimum.
func writeMatch(b *strings.Builder, re *syntax.Regexp, more, nth int) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(classRune(re.Rune, nth))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("ab"[nth%2])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			writeMatch(b, sub, more, nth)
		}
	case syntax.OpAlternate:
		writeMatch(b, re.Sub[nth%len(re.Sub)], more, nth)
	case syntax.OpStar, syntax.OpQuest, syntax.OpPlus:
		n := more
		switch re.Op {
		case syntax.OpPlus:
			n = max(1, more)
		case syntax.OpQuest:
			n = min(1, more)
		}
		for range n {
			writeMatch(b, re.Sub[0], more, nth)
		}
	case syntax.OpRepeat:
		n := re.Min + more
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		for range n {
			writeMatch(b, re.Sub[0], more, nth)
		}
	}
}

// classRune returns a letter or digit of a character class, if it has one.
func classRune(ranges []rune, nth int) rune {
	var found []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < 0x80; r++ {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				found = append(found, r)
			}
		}
	}
	if len(found) > 0 {
		return found[nth%len(found)]
	}
	return ranges[0]
}
