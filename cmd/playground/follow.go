package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// A follower is "kubectl intent status --watch" beside the tour. Its output goes to a file.
type follower struct {
	file      string
	cmd       *exec.Cmd
	complaint bytes.Buffer

	// ended is closed when the program has ended.
	ended chan struct{}
}

// startFollowing starts a follower of the service's deployment, which has to exist. It returns an error if the program does not start, or if the file
// cannot be written.
func startFollowing(ctx context.Context, file, kubeconfig string) (*follower, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	out, err := os.Create(filepath.Clean(file))
	if err != nil {
		return nil, errors.Wrap(err, "cannot write the output of status --watch")
	}
	defer func() { _ = out.Close() }() // The program has a separate handle.
	f := &follower{file: file, ended: make(chan struct{})}
	f.cmd = exec.CommandContext(ctx, filepath.Join(root, "_output", "bin", "kubectl-intent"), //nolint:gosec // Our own program, which stop ends.
		"status", serviceName, "--namespace", serviceNamespace, "--watch", "--kubeconfig", kubeconfig)
	f.cmd.Stdout, f.cmd.Stderr = out, &f.complaint
	if err := f.cmd.Start(); err != nil {
		return nil, errors.Wrap(err, `cannot start kubectl-intent: run "make build"`)
	}
	go func() {
		_ = f.cmd.Wait()
		close(f.ended)
	}()
	return f, nil
}

// awaitPrintedStatus waits until the follower has printed a status. Without that the next version could begin before the follower looks again, and the end of
// this one would be missing. It returns an error if the follower ends, or ctx does.
func (f *follower) awaitPrintedStatus(ctx context.Context, s deploymentv1alpha1.IntentDeploymentStatus) error {
	line := followedLine(s)
	err := wait.PollUntilContextCancel(ctx, lookInterval, true, func(context.Context) (bool, error) {
		printed, err := os.ReadFile(f.file)
		if err != nil || strings.Contains(string(printed), line) {
			return err == nil, err
		}
		select {
		case <-f.ended:
			return false, errors.Errorf("it ended: %s", f.complaint.String())
		default:
			return false, nil
		}
	})
	return errors.Wrapf(err, "status --watch does not print %q", line)
}

// stopProcess ends the follower, if its context did not.
func (f *follower) stopProcess() {
	_ = f.cmd.Process.Kill()
	<-f.ended
}

// followedLine is the prefix of a line about a status, after its time.
func followedLine(s deploymentv1alpha1.IntentDeploymentStatus) string {
	state := string(s.Phase)
	if s.Outcome != "" && string(s.Outcome) != state {
		state += "/" + string(s.Outcome)
	}
	return fmt.Sprintf("%s/%s %s revision %d ", serviceNamespace, serviceName, state, s.Revision)
}
