package targets

import (
	"os/exec"

	"sealab/fuzz/targets/reference"
)

var jsonTarget = Target{
	Name: "json", Layer: layerReaders,
	Doc:   "the JSON readers on any document: they take what the standard library takes, lose nothing, and the compact form is its own compact form",
	Check: reference.JSON,
	Seeds: jsonSeeds,
}

var pythonTarget = Target{
	Name: "python", Layer: layerImplementations,
	Doc:   "compact JSON and what Python makes of the same documents, many of them in each input",
	Check: reference.Python,
	Seeds: reference.PythonSeeds,
	Missing: func() string {
		if _, err := exec.LookPath("python3"); err != nil {
			return "python3 is not on this machine"
		}
		return ""
	},
}

var primitivesTarget = Target{
	Name: "primitives", Layer: layerImplementations,
	Doc: "the primitives in two implementations each: AES-GCM in assembly and in Go, XChaCha20-Poly1305 and a plain reading of its draft, " +
		"base64url by vectors and by the standard library, HPKE in circl and in crypto/hpke",
	Draws: true,
	Check: reference.Primitives,
	Seeds: func() ([][]byte, error) { return withContinuations(reference.PrimitivesSeeds()), nil },
}

func jsonSeeds() ([][]byte, error) {
	var seeds [][]byte
	for _, d := range reference.Documents {
		seeds = append(seeds, []byte(d))
	}
	files, err := committedVectors()
	for _, f := range files {
		seeds = append(seeds, f.claims()...)
	}
	return seeds, err
}
