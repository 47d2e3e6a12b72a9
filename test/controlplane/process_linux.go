package controlplane

import "syscall"

// boundToParent makes a child the leader of its own group, which can be killed whole and which Ctrl-C does not reach, and ends it with us.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
