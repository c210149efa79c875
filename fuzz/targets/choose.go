package targets

import "sealab/fuzz/program"

// pick chooses an instance.
func pick(p *program.Program) *instance { return choose(p, instances()) }

// A costly thing may take much time.
type costly interface{ isDear() bool }

func (s *instance) isDear() bool { return s.dear }

// choose reads the choice of one of all, at most 128. It seldom takes a costly
// one: with a key agreement, a token takes the time of a hundred others.
// Otherwise another one takes its place, by the same choice.
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
