package targets

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var answersTarget = Target{
	Name: "answers", Layer: layerProtocol,
	Doc:   "a worker that answers anything: the client says done, refused, unsupported or fault, and goes on or ends; a process per input, so hundreds a second",
	Check: runAnswers,
	Seeds: answersSeeds,
	Missing: func() string {
		if _, err := exec.LookPath("sh"); err != nil {
			return "sh is not on this machine"
		}
		return ""
	},
}

// recitingWorker is a shell worker that answers each line with the next line of a file. It
// exits after the last one.
const recitingWorker = `while IFS= read -r question && IFS= read -r answer <&3; do printf '%s\n' "$answer"; done 3<"$0"`

// answerTimeout is the time limit of the client. The worker exits after its last line, which
// the client notices at once.
const answerTimeout = time.Second

func runAnswers(p *program.Program) error {
	script, err := os.CreateTemp("", "sealab-answers-*")
	if err != nil {
		return err
	}
	defer os.Remove(script.Name())
	_, err = script.Write(p.Rest())
	if err := errors.Join(err, script.Close()); err != nil {
		return err
	}
	limits := worker.Limits{Start: answerTimeout, Request: answerTimeout, Line: 1 << 16, Restarts: -1}
	client, err := worker.Dial(worker.Command{Args: []string{"sh", "-c", recitingWorker, script.Name()}}, limits)
	if err != nil {
		return nil // the hello was invalid
	}
	defer client.Close()
	d := client.Design()
	if d.IsScheme() == (d.NewCodec != nil) {
		return harness.Fail("", "the design of a worker is both a codec and a scheme, or neither", "%q", d.Name)
	}
	return askEveryQuestion(d)
}

// askEveryQuestion makes every kind of request to a worker once.
func askEveryQuestion(d codecs.Design) error {
	c, err := openAny(d)
	if err != nil {
		return requireOutcome("opening", err)
	}
	const before = "kept"
	for _, ask := range []struct {
		name string
		call func(dst, in []byte) ([]byte, error)
	}{{"sealing", c.Seal}, {"unsealing", c.Unseal}} {
		out, err := ask.call([]byte(before), []byte("v1.AAAA"))
		if !bytes.HasPrefix(out, []byte(before)) || err != nil && len(out) != len(before) {
			return harness.Fail("", ask.name+" through a worker changes dst", "to %q", out)
		}
		if err := requireOutcome(ask.name, err); err != nil {
			return err
		}
	}
	return nil
}

func openAny(d codecs.Design) (codecs.Codec, error) {
	return lab.OpenAt(d, codecs.Config{Secrets: ringSecrets(d, 0)}, &program.Context)
}

// requireOutcome returns an error unless err is an outcome of the contract.
func requireOutcome(what string, err error) error {
	_, refused := errors.AsType[*worker.RefusedError](err)
	switch {
	case err == nil, errors.Is(err, codecs.ErrUnsupported), errors.Is(err, codecs.ErrFault),
		codecs.Rejected(err) != nil, refused:
		return nil
	}
	return harness.Fail("", what+" through a worker has an unknown outcome", "%v; want done, refused, unsupported or fault", err)
}

// answersSeeds returns the answers of a sound worker of either kind, and invalid variants.
func answersSeeds() ([][]byte, error) {
	var seeds [][]byte
	for _, kind := range []string{"codec", "scheme"} {
		hello := fmt.Sprintf(`{"ok":true,"protocol":1,"name":"w","version":"1","kind":%q,"abilities":["clock","batch"],"guarantees":{"integrity":true}}`+"\n", kind)
		unsupported, opened, token := `{"ok":false,"unsupported":true}`+"\n", `{"ok":true,"handle":1}`+"\n", `{"ok":true,"token":"v1.AAAA"}`+"\n"
		begin := hello + unsupported + opened + token
		for _, last := range []string{
			`{"ok":true,"state_b64":"c3RhdGU","payload_b64":"c3RhdGU"}`, `{"ok":false,"rejected":"unauthentic","reason":"mac"}`,
			`{"ok":false,"rejected":"whim"}`, `{"ok":false,"fault":"broke"}`, `{"ok":true}`, `{"ok":true,"state_b64":"*"}`, `[]`, `null`, "\xff",
		} {
			seeds = append(seeds, []byte(begin+last+"\n"))
		}
		seeds = append(seeds, []byte(hello), []byte(hello+unsupported+`{"ok":false,"refused":"short"}`+"\n"), []byte(hello+hello))
	}
	return seeds, nil
}
