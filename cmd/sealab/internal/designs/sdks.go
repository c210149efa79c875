package designs

import (
	"fmt"
	"io"

	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/cli"
	"sealab/internal/table"
)

// The states of an SDK.
const (
	sdkInstalled = "installed"
	sdkOther     = "other version" // not the one in the manifest
	sdkSkipped   = "skipped"       // not installed
	sdkBroken    = "broken"        // installed, but does not answer
)

// SDKsFormat is the name of the format of an SDKsDocument.
const SDKsFormat = "sealab-sdks/1"

// An SDKsDocument lists the implementations in other languages as JSON.
type SDKsDocument struct {
	Format string        `json:"format"`
	SDKs   []sdkDocument `json:"sdks"`
}

type sdkDocument struct {
	Name    string `json:"name"`
	Mirrors string `json:"mirrors,omitempty"` // name of a design
	Agrees  string `json:"agrees,omitempty"`  // name of a design that gives the same verdicts
	State   string `json:"state"`
	Version string `json:"version,omitempty"` // the version that answered
	Reason  string `json:"reason,omitempty"`  // for every state but "installed"
}

// listSDKs writes one line for each implementation in another language.
func listSDKs(out io.Writer, asJSON bool) error {
	sdks, err := sdk.All(".")
	if err != nil {
		return err
	}
	d := SDKsDocument{Format: SDKsFormat, SDKs: []sdkDocument{}}
	t := table.New("lll").AtMargin()
	for _, s := range sdks {
		x := stateOf(s)
		d.SDKs = append(d.SDKs, x)
		t.Row(x.texts()...)
	}
	return cli.WriteAs(out, asJSON, d, t.Write)
}

// texts returns the columns of an SDK.
func (d sdkDocument) texts() []string {
	mirrors, state := "mirrors no design", d.State+": "+d.Reason
	switch {
	case d.Mirrors != "":
		mirrors = "mirrors " + d.Mirrors
	case d.Agrees != "":
		mirrors = "agrees with " + d.Agrees
	}
	switch d.State {
	case sdkInstalled:
		state = "version " + d.Version
	case sdkOther:
		state = "version " + d.Version + ", " + d.Reason
	}
	return []string{d.Name, mirrors, state}
}

// stateOf starts an SDK and returns its version, or the reason why it does not
// answer.
func stateOf(s sdk.SDK) sdkDocument {
	d := sdkDocument{Name: s.Name, Mirrors: s.Mirrors, Agrees: s.Agrees.Design}
	if d.Reason = s.Unavailable(); d.Reason != "" {
		d.State = sdkSkipped
		return d
	}
	client, err := s.Dial(worker.Limits{})
	if err != nil {
		d.State, d.Reason = sdkBroken, cli.Line(err)
		return d
	}
	defer client.Close()
	d.State, d.Version = sdkInstalled, client.Hello().Version
	if s.Version != "" && s.Version != d.Version {
		d.State, d.Reason = sdkOther, fmt.Sprintf("want %s; install with: %s", s.Version, s.Install)
	}
	return d
}
