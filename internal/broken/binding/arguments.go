package binding

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Arguments returns controls that misread arguments.
func Arguments() []skeleton.Control {
	return []skeleton.Control{
		contextAs("arguments-in-utf8", "lone surrogates in arguments become the replacement character", []codecs.Property{codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			for _, lone := range []string{`\ud800`, `\udfff`} {
				c.Arguments = bytes.ReplaceAll(c.Arguments, []byte(lone), []byte(`\ufffd`))
			}
		}),
		argumentsAs("arguments-joined", "names of objects in objects are joined by a slash", "CTX-13", func(v any) any {
			flat := map[string]any{}
			joinNames(flat, "", v, func(name string) string { return name })
			return flat
		}),
		argumentsAs("arguments-pointed", "members are JSON Pointers whose slashes are escaped, and whose tildes are not", "CTX-13", func(v any) any {
			flat := map[string]any{}
			joinNames(flat, "", v, func(name string) string { return strings.ReplaceAll(name, "/", "~1") })
			return flat
		}),
		argumentsAs("arguments-named", "members without a name are left out", "CTX-13", func(v any) any {
			members := maps.Clone(v.(map[string]any))
			delete(members, "")
			return members
		}),
		contextAs("arguments-too-deep", "arguments of more than 512 levels cannot be read, and are taken for none", []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{"CTX-13"}, func(c *codecs.Context) {
			if bytes.Count(c.Arguments, []byte("{")) > 512 {
				c.Arguments = []byte("null")
			}
		}),
		argumentsAs("arguments-of-1000", "of a list 1000 values are bound, and of an object 100 members", "CTX-13", firstValues),
		argumentsAs("arguments-in-tree", "lists are hashed as a tree, whose levels of odd length repeat the last node", "CTX-13", leavesOfTree),
		argumentsAs("arguments-filtered", "the list of names that sorts members leaves out other members inside of objects", "CTX-10", func(v any) any {
			return namedMembers(v, v.(map[string]any))
		}),
	}
}

// argumentsAs returns a control, for an attack, that binds the result of read if the arguments are a JSON
// object. Numbers keep their text.
func argumentsAs(name, doc, attack string, read func(any) any) skeleton.Control {
	return contextAs(name, doc, []codecs.Property{codecs.BindsArguments, codecs.Unambiguous}, []string{attack}, func(c *codecs.Context) {
		d := json.NewDecoder(bytes.NewReader(c.Arguments))
		d.UseNumber()
		var v map[string]any
		if d.Decode(&v) == nil && v != nil {
			c.Arguments = append([]byte("as "), skeleton.InJSON(read(v))...)
		}
	})
}

// joinNames adds the values in v to flat, under escaped names joined by slashes.
func joinNames(flat map[string]any, name string, v any, escape func(string) string) {
	members, ok := v.(map[string]any)
	if !ok || len(members) == 0 && name != "" {
		flat[name] = v
		return
	}
	for inner, value := range members {
		joinNames(flat, strings.TrimPrefix(name+"/"+escape(inner), "/"), value, escape)
	}
}

// firstValues truncates lists to 1000 values and objects to 100 members, at every depth.
func firstValues(v any) any {
	switch v := v.(type) {
	case []any:
		v = slices.Clone(v[:min(len(v), 1000)])
		for i := range v {
			v[i] = firstValues(v[i])
		}
		return v
	case map[string]any:
		first := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(first) < 100 {
				first[name] = firstValues(v[name])
			}
		}
		return first
	}
	return v
}

// leavesOfTree repeats the last leaves of lists until no level of the tree above them has an odd length, but for the root.
func leavesOfTree(v any) any {
	switch v := v.(type) {
	case []any:
		v = slices.Clone(v)
		for size := 1; size < len(v); size *= 2 {
			if len(v)/size%2 == 1 {
				v = append(v, v[len(v)-size:]...)
			}
		}
		return v
	case map[string]any:
		all := map[string]any{}
		for name, inner := range v {
			all[name] = leavesOfTree(inner)
		}
		return all
	}
	return v
}

// namedMembers keeps the members of objects, at every depth, that names has as well.
func namedMembers(v any, names map[string]any) any {
	switch v := v.(type) {
	case []any:
		kept := slices.Clone(v)
		for i := range kept {
			kept[i] = namedMembers(kept[i], names)
		}
		return kept
	case map[string]any:
		kept := map[string]any{}
		for name, value := range v {
			if _, ok := names[name]; ok {
				kept[name] = namedMembers(value, names)
			}
		}
		return kept
	}
	return v
}
