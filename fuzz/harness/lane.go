package harness

// A lane is a goroutine that runs one input after another. The engine starts a
// new one for each, whose stack has to grow each time to what a target needs.
type lane struct {
	inputs  chan []byte
	answers chan answer
}

// An answer is what became of one input: see notebook.observe.
type answer struct {
	verdict *Verdict
	err     error
}

func newLane(observe func(input []byte) (*Verdict, error)) lane {
	l := lane{make(chan []byte), make(chan answer)}
	go func() {
		for input := range l.inputs {
			v, err := observe(input)
			l.answers <- answer{v, err}
		}
	}()
	return l
}

// run runs one input. Only one caller may at a time.
func (l lane) run(input []byte) (*Verdict, error) {
	l.inputs <- input
	a := <-l.answers
	return a.verdict, a.err
}
