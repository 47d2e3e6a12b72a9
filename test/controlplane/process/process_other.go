//go:build !linux

package process

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// boundToParent makes a child the leader of its own group, which can be killed whole and which Ctrl-C does not reach. Only Linux can also
// end it when we are killed.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// isSuspended returns whether no thread of a process runs. It returns an error if the process does not exist.
func isSuspended(pid int) (bool, error) {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return strings.HasPrefix(string(state), "T"), err
}
