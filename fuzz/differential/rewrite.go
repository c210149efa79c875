package differential

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/internal/lab"
)

// rewriteAll returns up to n tokens of this side with one edited step, or none if it does not
// offer editing.
func (r *round) rewriteAll(c codecs.Context, state []byte, n int) [][]byte {
	if !r.here.Edited() {
		return nil
	}
	a := r.here.At(&c)
	seed := r.octets(a.SeedSize())
	steps, _, err := traceSealing(a, seed, state)
	if err != nil {
		return nil
	}
	var all [][]byte
	for range n {
		if token, err := a.SealEdited(nil, seed, state, r.rewriteOne(r.drawStep(steps))); err == nil && canCross(token) {
			all = append(all, token)
		}
	}
	return all
}

// traceSealing returns the steps of sealing a token, and their values.
func traceSealing(a lab.Assembler, seed, state []byte) (steps []lab.Step, values [][]byte, err error) {
	_, err = a.SealEdited(nil, seed, state, func(s lab.Step, value []byte) []byte {
		steps, values = append(steps, s), append(values, bytes.Clone(value))
		return value
	})
	return steps, values, err
}

// atStep returns an edit that applies change to the step with the given index.
func atStep(index int, change func(lab.Step, []byte) []byte) lab.Edit {
	i := -1
	return func(s lab.Step, value []byte) []byte {
		if i++; i != index {
			return value
		}
		return change(s, value)
	}
}

// drawStep returns the index of a step, usually that of the claims or the payload.
func (r *round) drawStep(steps []lab.Step) int {
	claims := slices.IndexFunc(steps, func(s lab.Step) bool { return s == lab.StepClaims })
	if claims < 0 {
		claims = slices.Index(steps, lab.StepPayload)
	}
	if claims < 0 || r.IntN(4) == 0 {
		return r.IntN(len(steps))
	}
	return claims
}

// rewriteOne returns a random edit of the step with the given index.
func (r *round) rewriteOne(index int) lab.Edit {
	return atStep(index, func(s lab.Step, value []byte) []byte {
		if s == lab.StepText {
			return pickOne(r, alterations)(r, value, [][]byte{value})
		}
		if members := splitMembers(value); len(members) > 0 {
			return r.rewriteObject(value, members)
		}
		return r.rewriteBytes(value)
	})
}

func (r *round) rewriteBytes(value []byte) []byte {
	switch kind := r.IntN(4); {
	case kind == 0 || len(value) == 0:
		return append(value, r.octets(1+r.IntN(4))...)
	case kind == 1:
		return value[:r.IntN(len(value))]
	default:
		value[r.IntN(len(value))] ^= 1 << r.IntN(8)
		return value
	}
}

// A member is the encoded name and value of a member of an object.
type member struct{ name, value []byte }

// splitMembers returns the members of a JSON object, or nil for any other text.
func splitMembers(text []byte) []member {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var members []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil
		}
		members = append(members, member{quoted, value})
	}
	return members
}

func joinMembers(members []member) []byte {
	var out bytes.Buffer
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(m.name)
		out.WriteByte(':')
		out.Write(m.value)
	}
	return slices.Concat([]byte("{"), out.Bytes(), []byte("}"))
}

// rewriteObject changes claims that are JSON, usually one member.
func (r *round) rewriteObject(text []byte, members []member) []byte {
	i := r.IntN(len(members))
	m := members[i]
	switch r.IntN(9) {
	case 0:
		return joinMembers(slices.Delete(members, i, i+1))
	case 1:
		return joinMembers(slices.Insert(members, r.IntN(len(members)+1), member{m.name, []byte(r.value(m.value))}))
	case 2:
		members[i].name = []byte(pickOne(r, []string{`"x"`, `""`, strings.ToUpper(string(m.name)), escapeFirstCharacter(m.name)}))
		return joinMembers(members)
	case 3:
		r.Shuffle(len(members), func(a, b int) { members[a], members[b] = members[b], members[a] })
		return joinMembers(members)
	case 4:
		return r.surround(text)
	case 5:
		return r.rewriteBytes(text)
	default:
		members[i].value = []byte(r.value(m.value))
		return joinMembers(members)
	}
}

// escapeFirstCharacter returns a quoted name with its first character written as an escape.
func escapeFirstCharacter(name []byte) string {
	const digits = "0123456789abcdef"
	if len(name) < 3 || name[1] == '\\' || name[1] >= utf8.RuneSelf {
		return string(name)
	}
	return `"\u00` + string(digits[name[1]>>4]) + string(digits[name[1]&15]) + string(name[2:])
}

// surround adds text around the claims, or replaces them.
func (r *round) surround(text []byte) []byte {
	s := string(text)
	return []byte(pickOne(r, []string{
		" " + s, s + " ", "\n" + s + "\r\n", "\ufeff" + s, s + "\x00", s + s, s + ",", "[" + s + "]", s[:len(s)-1] + ",}",
		"\v" + s, "\u00a0" + s, "//" + s, "{}", "[]", "null", "0", `"v"`, "", strings.Replace(s, ":", " : ", 1), strings.Repeat("[", 50) + strings.Repeat("]", 50),
	}))
}

// value returns a replacement for the value of a claim.
func (r *round) value(value []byte) string {
	s := string(value)
	switch r.IntN(4) {
	case 0:
		return pickOne(r, leafValues)
	case 1:
		return r.number()
	case 2:
		return pickOne(r, []string{
			"NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1_0", "tru", "'a'", "", `"\x41"`, "\"\xff\"", "\"\n\"", "\"\x7f\"",
			`"\ud800\ud800"`, "[1,]", "[[[[[]]]]]", `{"a":1,"a":2}`, "true", "false", "1", "1.0", "10e-1", "99999999999", "-99999999999",
		})
	default:
		return pickOne(r, []string{
			s + ".0", s + "e0", s + ".5", "-" + s, `"` + s + `"`, "[" + s + "]", " " + s + " ", s + "0", s + " ", strings.ToUpper(s),
			strings.Replace(s, `"`, `"\u0000`, 1), strings.Replace(s, "a", `\u0061`, 1), strings.TrimSuffix(s, `"`) + `="`,
		})
	}
}
