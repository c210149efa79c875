package client

import (
	"regexp"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// namePart matches the parts of names that tell two names of one tool apart.
var namePart = regexp.MustCompile(`(?i)(\b|_)(old|new|legacy|deprecated|v\d+)(\b|_)|[^\pL\pN]`)

// AreTwins reports whether two tools are, by their texts, one tool under two names: the names differ in case,
// separators or a version, or the tools take the same arguments and one has the text of the other or says that
// it is another name.
func AreTwins(one, two Offer) bool {
	bare := func(o Offer) string { return strings.ToLower(namePart.ReplaceAllString(o.Name, "")) }
	switch {
	case one.Name == two.Name:
		return false
	case bare(one) == bare(two):
		return true
	case !jsondoc.Same(one.Input, two.Input):
		return false
	}
	return one.Description != "" && one.Description == two.Description || isAliasOf(one, two) || isAliasOf(two, one)
}

// aliasText matches texts of tools that are another name of a tool.
var aliasText = regexp.MustCompile(`(?i)\bnames?\b|\balias|\bsame as\b|\bdeprecated\b|\brenamed\b|\bsynonym|\breplaced by\b|\binstead\b`)

// isAliasOf reports whether a tool says that it is another name of a second one.
func isAliasOf(one, two Offer) bool {
	return aliasText.MatchString(one.Description) && strings.Contains(one.Description, two.Name)
}
