// Package architecture holds the rules of the house as tests: who may import
// whom, which other modules may be used and why, which single package touches
// the system's randomness, and that one folder and one row make a design.
package architecture
