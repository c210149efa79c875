package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"sealab/internal/cli"
	"sealab/internal/testenv"
)

// program returns a command with one group and one subcommand that takes one argument.
func program() *cobra.Command {
	root := &cobra.Command{Use: "program"}
	group := &cobra.Command{Use: "group"}
	var name string
	run := &cobra.Command{Use: "run FILE", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		if args[0] == "bad" {
			return cli.ErrRefuted
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), name)
		return err
	}}
	run.Flags().StringVar(&name, "name", "", "name to print")
	cli.RenameFlag(run, "old-name", "name")
	needs := &cobra.Command{Use: "needs", RunE: run.RunE}
	needs.Flags().String("file", "", "file to read")
	needs.Flags().Int("size", 0, "size to read")
	cobra.CheckErr(errors.Join(needs.MarkFlagRequired("file"), needs.MarkFlagRequired("size")))
	group.AddCommand(run, needs)
	root.AddCommand(group)
	return cli.Prepare(root)
}

func TestRunAndExit(t *testing.T) {
	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"group run file --name x", cli.OK, "x", ""},
		{"group run file --old-name x", cli.OK, "x", ""},
		{"group run bad", cli.Refuted, "", ""},
		{"group run", cli.Fault, "", "program: wrong number of arguments: 0; want program group run FILE [flags]\n"},
		{"group runn", cli.Fault, "", "program: unknown command \"runn\" for \"program group\"; program group --help lists them\n"},
		{"help group runn", cli.Fault, "", "program: unknown command \"runn\" for \"program group\"; program group --help lists them\n"},
		{"help grop", cli.Fault, "", "program: unknown command \"grop\" for \"program\"; did you mean group\n"},
		{"group needs", cli.Fault, "", "program: want --file and --size; program group needs --help describes it\n"},
		{"group run file --none", cli.Fault, "", "program: unknown flag: --none; program group run --help lists the flags\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := cli.Run(program(), strings.Fields(c.args), strings.NewReader(""), &stdout, &stderr)
			require.Equal(t, c.status, cli.Exit(&stderr, "program", err))
			require.Equal(t, c.stdout, stdout.String())
			require.Equal(t, c.stderr, stderr.String())
		})
	}
}

// full is a writer that fails like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullDisk checks that a failed write is a fault even if the command reports another outcome.
func TestFullDisk(t *testing.T) {
	root := &cobra.Command{Use: "program", RunE: func(cmd *cobra.Command, _ []string) error {
		fmt.Fprintln(cmd.OutOrStdout(), "a result")
		return cli.ErrRefuted
	}}
	var stderr bytes.Buffer
	err := cli.Run(cli.Prepare(root), nil, strings.NewReader(""), full{}, &stderr)
	require.Equal(t, cli.Fault, cli.Exit(&stderr, "program", err))
	require.Equal(t, "program: writing the output: no space left on device\n", stderr.String())
}

// TestInterruptible runs itself as a child process that interrupts itself until it ends.
func TestInterruptible(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.Skip(t, "a process cannot interrupt itself on Windows")
	}
	const again = "SEALAB_TEST_INTERRUPTIBLE"
	if os.Getenv(again) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestInterruptible$")
		child.Env = append(os.Environ(), again+"=1")
		out, err := child.CombinedOutput()
		require.EqualError(t, err, "signal: interrupt")
		require.Equal(t, "cancelled\n", string(out))
		return
	}
	cmd := new(cobra.Command)
	cmd.SetContext(t.Context())
	ctx, stop := cli.Interruptible(cmd)
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, self.Signal(os.Interrupt))
	<-ctx.Done()
	fmt.Println("cancelled")
	for range 1000 {
		require.NoError(t, self.Signal(os.Interrupt))
		time.Sleep(10 * time.Millisecond)
	}
}

func TestLine(t *testing.T) {
	require.Equal(t, "a: b c", cli.Line(errors.New("a:\n\tb\n c")))
}

func TestParseOptions(t *testing.T) {
	got, err := cli.ParseOptions([]string{"a=1", "b=x=y", "c="})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "1", "b": "x=y", "c": ""}, got)
	_, err = cli.ParseOptions([]string{"a"})
	require.EqualError(t, err, `option "a": want name=value`)
}
