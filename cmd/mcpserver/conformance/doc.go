// Package conformance runs the official conformance suite of the Model Context
// Protocol (npm @modelcontextprotocol/conformance 0.2.0-alpha.12) against the
// example server, in its tests. `make conformance` installs the suite beside this
// file. The tests run every scenario of revision 2026-07-28: those that the
// revision requires, later ones, and those of extensions.
//
// For each scenario the suite writes a folder server-<scenario>-<time> with a file
// checks.json. The tests are stricter than the suite's exit status: a scenario
// passes only if all its checks succeed. The suite also passes warnings, and
// failures of scenarios that it does not score.
package conformance
