// Package command runs other programs: the go command, which must run inside this module to build parts of
// it, and children that end with this process.
package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the module that CheckGo looks for.
const module = "sealab"

// CheckGo returns an error unless dir is inside the module and the go command is
// installed. An empty dir is the working folder.
func CheckGo(ctx context.Context, dir string) error {
	_, err := GoIn(ctx, dir, "list", "-m", module)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || ctx.Err() != nil {
		return err
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is not inside the module %s: run the command there, because it builds from source", path, module)
}

// Go is GoIn in the working folder.
func Go(ctx context.Context, args ...string) ([]byte, error) { return GoIn(ctx, "", args...) }

// GoIn runs the go command in a folder and returns its standard output. The error includes the command's
// standard error.
func GoIn(ctx context.Context, dir string, args ...string) ([]byte, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fmt.Errorf("%w; want the go command", err)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted during go %s: %w", args[0], ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// GoList runs go list in a folder and returns the decoded packages. args must include a -json flag that
// names the fields of T.
func GoList[T any](ctx context.Context, dir string, args ...string) ([]T, error) {
	out, err := GoIn(ctx, dir, append([]string{"list"}, args...)...)
	if err != nil {
		return nil, err
	}
	var all []T
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p T
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		all = append(all, p)
	}
	return all, nil
}

// GoOverlay writes sources to dir with the overlay file that the go command's -overlay flag reads. The
// overlay replaces files in a build without changing them. The keys of sources are the paths to replace; a
// path without a file adds one. GoOverlay returns the path of the overlay file.
func GoOverlay(dir string, sources map[string][]byte) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for path, source := range sources {
		at := filepath.Join(dir, fmt.Sprintf("%d.go", len(list.Replace)))
		if err := os.WriteFile(at, source, 0o644); err != nil {
			return "", err
		}
		list.Replace[path] = at
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}
