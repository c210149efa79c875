package mcprb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"sealab/codecs/internal/rawjson"
)

// A digester returns the claim for raw arguments, which are nil if absent. It
// fails if they have no digest.
type digester func(raw json.RawMessage) ([]byte, error)

// digesters are the values of the option digest.
var digesters = map[string]digester{
	digestSDK:   canonicalDigest,
	digestGiven: givenDigest,
}

// emptyObject is digested if there are no arguments.
var emptyObject = []byte("{}")

func canonicalDigest(raw json.RawMessage) ([]byte, error) {
	canonical := emptyObject
	if raw != nil {
		v, err := parseUTF8(raw)
		if err != nil {
			return nil, err
		}
		if !isPrintable(&v) {
			return nil, fmt.Errorf("the arguments hold what Ruby cannot print")
		}
		if v.Kind != rawjson.Null && v.Kind != rawjson.False {
			canonical = generate.AppendValue(make([]byte, 0, len(raw)), &v)
		}
	}
	sum := sha256.Sum256(canonical)
	return hex.AppendEncode(nil, sum[:]), nil
}

func givenDigest(raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return nil, nil
	}
	v, err := parseUTF8(raw)
	if err != nil {
		return nil, err
	}
	if v.Kind != rawjson.String {
		return nil, fmt.Errorf("the arguments are no string that could be a digest")
	}
	return v.Text, nil
}

func parseUTF8(raw []byte) (rawjson.Value, error) {
	if !utf8.Valid(raw) {
		return rawjson.Value{}, fmt.Errorf("not JSON: the arguments are not UTF-8")
	}
	return rawjson.Parse(raw)
}

// isPrintable reports whether Ruby can print a value: it raises an error for
// infinite numbers and for strings that are not UTF-8.
func isPrintable(v *rawjson.Value) bool {
	switch v.Kind {
	case rawjson.Number:
		return !math.IsInf(v.Float(), 0) || !isFloat(v.Text)
	case rawjson.String:
		return utf8.Valid(v.Text)
	}
	for i := range v.Items {
		if !isPrintable(&v.Items[i]) {
			return false
		}
	}
	for i := range v.Members {
		if !utf8.Valid(v.Members[i].Name) || !isPrintable(&v.Members[i].Value) {
			return false
		}
	}
	return true
}
