// Package architecture holds the rules of the repository as tests: who may import
// whom, which modules may be required and why, which packages use the system's
// randomness, and that a design is one folder and one row of the catalog.
package architecture
