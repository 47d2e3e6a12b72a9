//go:build !linux

package controlplane

import "syscall"

// boundOfWait makes a child the leader of its own group, which can be killed whole and which Ctrl-C does not reach. Only Linux can also
// end it when we are killed.
func boundOfWait() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
