package process

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// boundToParent makes a child the leader of its own group, which can be killed whole and which Ctrl-C does not reach, and ends it with us.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// isSuspended returns whether no thread of a process runs. It returns an error if the process does not exist.
func isSuspended(pid int) (bool, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(state, "T"), err
}
