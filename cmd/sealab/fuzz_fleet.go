package main

import "github.com/spf13/cobra"

func newFuzzFleetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Fuzz one target on many machines, with go-fuzz",
		Long: `Prepare and start the coordinator and the workers of go-fuzz.

The connection between them has no authentication and is in the clear: who
reaches the port reads and writes the corpus, and hands inputs to every worker.
So the coordinator listens on the loopback interface. Workers on other machines
come through a tunnel, from the worker's machine:

  ssh -N -L 7070:127.0.0.1:7070 coordinator.example
  sealab fuzz fleet worker 127.0.0.1:7070 --archive archive.zip --sha256 ...`,
	}
	cmd.AddCommand(newFleetCoordinatorCommand(), newFleetWorkerCommand(), newFleetCollectCommand())
	return cmd
}
