package attack

import "encoding/json"

// quoted is s as a JSON text.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("sealab: " + err.Error()) // a text always has a JSON form
	}
	return string(b)
}
