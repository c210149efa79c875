package inputs

import (
	"encoding/json"
	"regexp"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

var (
	// languageName matches names of arguments that are a query in a language.
	languageName = regexp.MustCompile(`(?i)^(?:(?:raw|my|pg)?sql(?:ite)?|(?:raw_?)?sql_?(?:query|statement|text|code|command|string)|cypher|sparql|graphql|hql|soql|(?:query|statement)_?sql)$`)
	// statementName matches names of arguments that are a query if the text of their tool says so.
	statementName = regexp.MustCompile(`(?i)^(?:q|query|queries|statement|command|code|script|text|input)$`)
	// statement matches queries of a language as samples.
	statement = regexp.MustCompile(`(?is)^\s*(?:select\s.+\sfrom\s|select\s+[\d*(]|with\s.+\sas\s*\(.+select\s|insert\s+into\s|update\s.+\sset\s|delete\s+from\s|explain\s+(?:query\s+plan\s+)?select\s|match\s*\(.*\).*\sreturn\s)`)
	// statementOf matches texts that announce a query of a language in place of a value.
	statementOf = regexp.MustCompile(`(?i)\b(?:any|an?|the|one|single|read-only|valid|raw)?\s*(?:\bsql\b|\bcypher\b|\bsparql\b)[ -](?:quer(?:y|ies)|statements?|select|commands?|expressions?|scripts?|to\b)|\bselect\b (?:quer(?:y|ies)|statements?)|\b(?:runs?|executes?|evaluates?) (?:an?|any|the|one|read-only|raw|arbitrary)?\s*(?:read-only |single )?(?:sql|select|cypher|sparql)\b`)
)

// TakesQuery reports whether an argument is a query of a language by design: by its name, by a sample, by
// its description, or, if its name may be that of a query, by the description of its tool.
func TakesQuery(name, about string, given, schema json.RawMessage) bool {
	if languageName.MatchString(name) {
		return true
	}
	s := jsondoc.ParseSchema(schema)
	for _, sample := range append(s.Examples, given, s.Default) {
		if text, ok := jsondoc.Text(sample); ok && statement.MatchString(text) {
			return true
		}
	}
	description := s.About
	if statementName.MatchString(strings.ReplaceAll(name, "_", "")) {
		description += "\n" + about
	}
	return statementOf.MatchString(description)
}
