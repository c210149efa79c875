package runfile

import "slices"

// A Relation is the reason why two cells of one run are compared.
type Relation string

// The relations. A ratio is the time of a cell divided by the time of the other cell.
const (
	OverBaseline Relation = "baseline"  // a design to the bare use of its primitive
	OverDesign   Relation = "design"    // an amortized design to the plain design of its primitive
	OverCodec    Relation = "codec"     // a scheme to its codec, or to the first plain design of its primitive
	OverOurs     Relation = "ours"      // a library to the first design of its kind, with claims if it has them; an SDK to the design that mirrors it
	OverRing     Relation = "ring of 1" // a ring of many keys to a ring of one
	OverItself   Relation = "itself"    // a subject to its repetition: noise
)

// A Comparison is a subject to compare another with, and the reason.
type Comparison struct {
	Relation
	Subject
}

// Compared returns the subjects among all that s is compared with in one operation.
func Compared(all []Subject, s Subject) []Comparison {
	var found []Comparison
	hold := func(why Relation, to *Subject) {
		if to != nil {
			found = append(found, Comparison{why, *to})
		}
	}
	for _, other := range all {
		if why, ok := relation(s, other); ok {
			hold(why, &other)
		}
	}
	switch s.Role {
	case RoleLibrary:
		hold(OverOurs, ours(all, s.Kind, s.Claims))
	case RoleScheme:
		hold(OverCodec, codecOf(all, s))
	}
	return found
}

// relation returns the reason for comparing s with other. It reports false if they are not compared, or if
// the reason depends on further subjects.
func relation(s, other Subject) (Relation, bool) {
	sameWork := s.Primitive != "" && s.Primitive == other.Primitive
	switch {
	case s.Role == RoleRepeat:
		return OverItself, other.Name == s.Repeats
	case s.Role == RoleSDK:
		return OverOurs, other.Name == s.Mirrors
	case s.Role != RoleDesign && s.Role != RoleScheme || !sameWork:
		return "", false
	case other.Role == RoleBaseline:
		return OverBaseline, other.Claims == (s.Role == RoleScheme) && (other.Over == "") == (s.Over == "")
	case s.Role == RoleDesign && other.Role == RoleDesign:
		return OverDesign, s.Amortized && !other.Amortized
	}
	return "", false
}

// ours returns the design to compare libraries of a kind with: the first plain codec among all, or a scheme
// with claims over it.
func ours(all []Subject, kind Kind, claims bool) *Subject {
	plain := first(all, func(s Subject) bool {
		return s.Role == RoleDesign && s.Kind == kind && s.Primitive != "" && !s.Amortized
	})
	if plain == nil || !claims {
		return plain
	}
	return first(all, func(s Subject) bool { return s.Role == RoleScheme && s.Over == plain.Name })
}

// codecOf returns the codec under a scheme. For a scheme with its own format it returns the first plain
// design with the same primitive.
func codecOf(all []Subject, scheme Subject) *Subject {
	return first(all, func(s Subject) bool {
		if scheme.Over != "" {
			return s.Name == scheme.Over
		}
		return s.Role == RoleDesign && scheme.Primitive != "" && s.Primitive == scheme.Primitive && !s.Amortized
	})
}

// first returns the first subject that fits, or nil.
func first(all []Subject, fits func(Subject) bool) *Subject {
	i := slices.IndexFunc(all, fits)
	if i < 0 {
		return nil
	}
	return &all[i]
}
