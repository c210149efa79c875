package catalog

import (
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// The primitives of the designs, for fuzz targets alone.

// JSON is a JSON value as the formats of SDKs parse it.
type JSON = rawjson.Value

// The kinds of JSON values.
const (
	JSONNull   = rawjson.Null
	JSONFalse  = rawjson.False
	JSONTrue   = rawjson.True
	JSONNumber = rawjson.Number
	JSONString = rawjson.String
	JSONArray  = rawjson.Array
	JSONObject = rawjson.Object
)

// ParseJSON parses one JSON text.
func ParseJSON(text []byte) (JSON, error) { return rawjson.Parse(text) }

// AppendJSON appends the form that Python's json.dumps gives a JSON text, with
// separators without spaces.
func AppendJSON(dst, text []byte) ([]byte, error) { return compactjson.Append(dst, text) }

// AppendSortedJSON is AppendJSON with sort_keys.
func AppendSortedJSON(dst, text []byte) ([]byte, error) { return compactjson.AppendSorted(dst, text) }

// AppendBase64URL appends raw as base64url without padding.
func AppendBase64URL(dst, raw []byte) []byte { return base64url.AppendEncode(dst, raw) }

// AppendFromBase64URL appends the bytes of a canonical base64url text.
func AppendFromBase64URL(dst, text []byte) ([]byte, bool) { return base64url.AppendDecode(dst, text) }
