// Command mcpserver is the example server of the Model Context Protocol. The boundary seals its
// requestState. It is also the command "sealab serve".
package main

import (
	"io"
	"os"

	"sealab/cmd/mcpserver/serve"
	"sealab/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Exit(stderr, "mcpserver", cli.Run(cli.Prepare(serve.New("mcpserver")), args, stdin, stdout, stderr))
}
