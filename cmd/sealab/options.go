package main

import (
	"fmt"
	"strings"
)

// parseOptions reads options that were given as name=value.
func parseOptions(given []string) (map[string]string, error) {
	options := make(map[string]string, len(given))
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok {
			return nil, fmt.Errorf("sealab: option %q: want name=value", g)
		}
		options[name] = value
	}
	return options, nil
}
