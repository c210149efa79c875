package targets

import "sealab/fuzz/program"

// pick chooses a subject.
func pick(p *program.Program) *subject { return choose(p, subjects()) }

// costly is what may be dear.
type costly interface{ isDear() bool }

func (s *subject) isDear() bool { return s.dear }

// choose reads the choice of one of all, at most 128. What is dear is seldom taken
// where it is chosen: with an agreement of keys a token takes as long as a hundred
// others. Another one stands in for it, which the same choice decides.
func choose[T costly](p *program.Program, all []T) T {
	choice := int(p.Byte())
	chosen, round := choice%len(all), choice/len(all)
	if !all[chosen].isDear() || p.Seldom() {
		return all[chosen]
	}
	for i := range all {
		if other := all[(chosen+round+i)%len(all)]; !other.isDear() {
			return other
		}
	}
	return all[chosen]
}
