package process

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/intentplane/intentplane/test/patience"
)

// parentDir makes the test binary the parent in TestOrphanedProcessesEnd, with the directory of its logs.
const parentDir = "INTENTPLANE_TEST_PARENT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDir); dir != "" {
		beParent(dir)
		return
	}
	os.Exit(m.Run())
}

// beParent starts children, from goroutines whose threads end, prints their process ids and waits to be killed.
func beParent(dir string) {
	r := NewRunner(dir, func(error) {})
	for range 4 {
		p, err := r.Start(Command{Name: "sleep", Path: "/bin/sleep", Args: []string{"300"}})
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strconv.Itoa(p.PID) + "\n")
	}
	select {}
}

func running(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	// A zombie waits for an init that reaps, which containers may lack. It runs no more.
	return !strings.Contains(string(b), ") Z ")
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience.Limit, true, func(context.Context) (bool, error) {
		return !running(pid), nil
	})
	if err != nil {
		t.Errorf("process %d still runs", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestOrphanedProcessesEnd(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return // Only Linux ends children whose parent was killed.
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), exe)
	parent.Env = append(os.Environ(), parentDir+"="+t.TempDir())
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 4 && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		if !running(pid) {
			t.Errorf("process %d should run while its parent does", pid)
		}
		pids = append(pids, pid)
	}
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for _, pid := range pids {
		waitGone(t, pid)
	}
}

func TestEarlyEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := NewRunner(t.TempDir(), cancel)
	t.Cleanup(r.StopAll)
	if _, err := r.Start(Command{Name: "broken", Path: "/bin/sh", Args: []string{"-c", "echo because of this; exit 3"}}); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	got := context.Cause(ctx).Error()
	for _, want := range []string{"broken ended early", "exit status 3", "because of this"} {
		if !strings.Contains(got, want) {
			t.Errorf("cause %q should contain %q", got, want)
		}
	}
}

func TestStopAllProcesses(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := NewRunner(t.TempDir(), cancel)
	// The shell's child must end too.
	p, err := r.Start(Command{Name: "shell", Path: "/bin/sh", Args: []string{"-c", "sleep 300 & wait"}})
	if err != nil {
		t.Fatal(err)
	}
	r.StopAll()
	waitGone(t, p.PID)
	if ctx.Err() != nil {
		t.Errorf("stopping should not count as failing: %v", context.Cause(ctx))
	}
	if _, err := r.Start(Command{Name: "late", Path: "/bin/true"}); err == nil {
		t.Errorf("nothing should start after stop")
	}
}
